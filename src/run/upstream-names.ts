import { ContractError } from '@storegate/openapi';
import { suggest } from '../common/suggest.ts';
import type { Config } from '../config/config.ts';
import type { Contract } from '../config/contract/contract.ts';
import { DEFAULT_UPSTREAM } from '../config/upstreams.ts';

/** Throws ContractError for every unknown name. */
export function refuseUnknownUpstreams({ operations }: Pick<Contract, 'operations'>, config: Config): void {
  const known = [DEFAULT_UPSTREAM, ...Object.keys(config.upstreams)];
  const problems = operations.flatMap(({ id, method, path, upstream }) => {
    if (upstream === null || known.includes(upstream)) return [];
    const near = suggest(upstream, known);
    const hint = near === null ? `known are ${known.join(', ')}` : `did you mean ${near}?`;
    const message = `${id} (${method} ${path}): x-storegate-upstream names ${upstream}, which upstreams in gateway.yaml does not have; ${hint}`;
    return [{ file: config.contract.file, place: '', message }];
  });
  if (problems.length > 0) throw new ContractError(problems);
}

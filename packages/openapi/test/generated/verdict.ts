import { Refusal } from '../../../../src/errors/refusals.ts';
import { parseTarget } from '../../../../src/gateway/wire/target.ts';
import type { Contract } from '../../src/contract.ts';
import type { Request } from './requests.ts';

/** What the gateway has against a request, in words: its target, its operation, its parameters, its body. */
export function faultsOf(contract: Contract, { method, target, headers, body }: Request): readonly string[] {
  try {
    const { path, query } = parseTarget(target);
    const { operation, ...found } = contract.match(method, path);
    if (operation === null || !('parameters' in found)) return ['no such operation'];
    const faults = operation.checkParameters(found.parameters, query, headers);
    const told = faults.map(({ in: place, pointer, message, rule }) => `${rule}: ${place} ${pointer} ${message}`);
    if (body === null) return operation.body?.required ? [...told, 'required: body'] : told;
    if (!operation.body) return [...told, 'unexpected: body'];
    const media = operation.body.media(body.type);
    if (!media) return [...told, `mediaType: ${body.type}`];
    // A body of no bytes is none.
    const wrong = body.bytes.length > 0 ? media.check(body.bytes) : [];
    return [...told, ...wrong.map(({ pointer, message, rule }) => `${rule}: body ${pointer} ${message}`)];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [`target: ${error.message}`];
  }
}

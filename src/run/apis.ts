import { ContractError } from '@storegate/openapi';
import { isBelow, prefixOf, stripsPath } from '../config/apis.ts';
import type { Api } from '../config/config.ts';
import type { Contracts } from '../config/contract/contract.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import { inApi } from '../limits/scopes.ts';
import type { Loaded } from './contracts/loader.ts';
import type { Fetched } from './contracts/remote.ts';

/** An API with its contract. */
export interface ActiveApi extends Loaded {
  readonly api: Api;
}

/** In order. Rejects as `load`. */
export async function loadAll(
  apis: readonly Api[],
  load: (api: Api) => Promise<Loaded>,
) {
  const loaded: ActiveApi[] = [];
  const texts: Fetched[] = [];
  for (const api of apis) {
    const { fetched, ...own } = await load(api);
    loaded.push({ ...own, api });
    if (fetched) texts.push(fetched);
  }
  return { apis: loaded as readonly ActiveApi[], fetched: texts };
}

/** Each client has a counter for every window. */
const MAX_SCOPED_WINDOWS = 16;

/**
 * One contract as it is, several together.
 *
 * @throws ContractError if they have too many windows
 */
export function contractsOf(
  apis: readonly Pick<ActiveApi, 'api' | 'contract'>[],
): Contracts {
  const [only, ...others] = apis;
  if (others.length === 0) return only!.contract;
  const all = apis.map(({ contract }) => contract);
  const windows = all.flatMap((one) => one.windows);
  if (windows.length > MAX_SCOPED_WINDOWS) {
    const message = `all contracts together have at most ${MAX_SCOPED_WINDOWS} windows, because each client is counted in all of them`;
    throw new ContractError([
      { file: fileOf(apis.at(-1)!), place: '', message },
    ]);
  }
  const described = apis.filter(({ api }) => api.contract.file !== NO_CONTRACT);
  return {
    operations: all.flatMap(({ operations }) => operations),
    windows,
    exempted: all.flatMap(({ exempted }) => exempted),
    fingerprint: all.map(({ fingerprint }) => fingerprint).join(),
    digests: new Map(
      apis.flatMap(({ api, contract }) =>
        [...contract.digests].map(
          ([id, digest]) => [inApi(prefixOf(api), id), digest] as const,
        ),
      ),
    ),
    files: new Map(all.flatMap(({ files }) => [...files])),
    title: described.map(({ api }) => api.name).join(', '),
    version: described.map(({ contract }) => contract.version).join(', '),
  };
}

const fileOf = ({ api }: Pick<ActiveApi, 'api'>): string => api.contract.file;

/**
 * Throws ContractError for each operation whose requests another API takes, because its path is
 * longer.
 */
export function refuseUnreached(apis: readonly ActiveApi[]): void {
  const problems = apis.flatMap((one) =>
    one.contract.operations.flatMap(({ id, method, path }) => {
      const full = fullPath(one, path);
      const taker = apis.find(({ api }) => takes(api, one.api, full));
      if (taker === undefined) return [];
      const { name, path: taken } = taker.api;
      const message = `${id} (${method} ${full}) is never reached: the API ${name} has ${taken}`;
      return [{ file: fileOf(one), place: '', message }];
    }),
  );
  if (problems.length > 0) throw new ContractError(problems);
}

/** As clients send it, with the shortest prefix of the contract. */
function fullPath({ api, contract }: ActiveApi, path: string): string {
  const prefix = contract.prefixes.at(-1) ?? '';
  return (stripsPath(api, contract.prefixes) ? api.path : '') + prefix + path;
}

function takes(other: Api, own: Api, path: string): boolean {
  return (
    other.path.length > own.path.length &&
    (other.host === null || other.host === own.host) &&
    isBelow(other.path, path)
  );
}

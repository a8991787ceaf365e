import { ContractError, canonicalPath, type Problem } from '@storegate/openapi';
import { foldedName } from '../common/field-list.ts';
import { suggest } from '../common/suggest.ts';
import { prefixOf, stripsPath } from '../config/apis.ts';
import type { Api, Config } from '../config/config.ts';
import type { Contracts } from '../config/contract/contract.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import { DEFAULT_UPSTREAM } from '../config/upstreams.ts';
import { createApiFinder } from '../gateway/find-api.ts';
import { namesIn } from '../gateway/wire/fields.ts';
import { inApi, isOfApi } from '../limits/scopes.ts';
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
      { file: apis.at(-1)!.api.contract.file, place: '', message },
    ]);
  }
  const described = apis.filter(({ api }) => api.contract.file !== NO_CONTRACT);
  return {
    operations: all.flatMap(({ operations }) => operations),
    windows,
    exempted: apis.flatMap(({ api, contract }) =>
      contract.exempted.map((one) => ({
        ...one,
        id: inApi(prefixOf(api), one.id),
      })),
    ),
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

/** Throws ContractError for each mistake between the contracts and the settings. */
export function refuseMistakes(
  apis: readonly ActiveApi[],
  config: Config,
): void {
  const problems = [
    ...unreached(apis),
    ...namesakes(apis),
    ...unknownUpstreams(apis, config),
    ...apis.flatMap(ruledKeyHeaders),
  ];
  if (problems.length > 0) throw new ContractError(problems);
}

/** Operations whose requests another API takes, because its path is longer, or no API has. */
function unreached(apis: readonly ActiveApi[]): Problem[] {
  const hosts = Map.groupBy(apis, ({ api }) => api.host);
  return [...hosts.values()].flatMap((sameHost) => {
    const find = createApiFinder(
      sameHost.map((value) => ({ host: null, path: value.api.path, value })),
    );
    return sameHost.flatMap((one) =>
      one.contract.operations.flatMap(({ id, method, path }) => {
        const { api, contract } = one;
        const begin = stripsPath(api, contract.prefixes) ? api.path : '';
        const takers = contract.prefixes.map((prefix) =>
          find(undefined, nearest(begin + prefix + path, api.path)),
        );
        if (takers.includes(one)) return [];
        const full = `${begin}${contract.prefixes.at(-1)}${path}`;
        const taken = takers.at(-1)?.api ?? api;
        const reason =
          taken.path.length > api.path.length
            ? `the API ${taken.name} has ${taken.path}`
            : `the API ${api.name} has ${api.path}, and stripPath is false`;
        const message = `${id} (${method} ${full}) is never reached: ${reason}`;
        return [{ file: api.contract.file, place: '', message }];
      }),
    );
  });
}

/** Operations outside `apis` that are named like those of an API. */
function namesakes([own, ...others]: readonly ActiveApi[]): Problem[] {
  return own!.contract.operations.flatMap(({ id, method, path }) => {
    const other = others.find(({ api }) => isOfApi(api.name, id));
    if (other === undefined) return [];
    const message = `${id} (${method} ${path}) is named like operations of the API ${other.api.name}: rename one of them`;
    return [{ file: own!.api.contract.file, place: '', message }];
  });
}

/** Of the requests of a path template, the one that shares most segments with a place. */
function nearest(template: string, place: string): string {
  const own = place.split('/');
  const segments = template
    .split('/')
    .map((segment, i) => (segment.includes('{') && own[i]) || segment);
  return canonicalPath(segments.join('/'));
}

function unknownUpstreams(
  apis: readonly ActiveApi[],
  config: Config,
): Problem[] {
  const names = [DEFAULT_UPSTREAM, ...Object.keys(config.upstreams)];
  const all = apis.flatMap(({ api, contract }) =>
    contract.operations.map((operation) => ({ api, operation })),
  );
  return all.flatMap(({ api, operation }) => {
    const { id, method, path, upstream } = operation;
    if (upstream === null || names.includes(upstream)) return [];
    const near = suggest(upstream, names);
    const hint =
      near === null ? `known are ${names.join(', ')}` : `did you mean ${near}?`;
    const message = `${id} (${method} ${path}): x-storegate-upstream names ${upstream}, which upstreams in gateway.yaml does not have; ${hint}`;
    return [{ file: api.contract.file, place: '', message }];
  });
}

/** The settings are checked without the contract, which may name further headers for keys. */
function ruledKeyHeaders({ api, contract }: ActiveApi): Problem[] {
  if (api.keys.headers !== null) return [];
  const keys = new Set(contract.keyHeaders.headers.map(foldedName));
  return Object.entries(api.headers).flatMap(([side, rules]) =>
    namesIn(rules)
      .filter((name) => keys.has(foldedName(name)))
      .map((name) => ({
        file: api.contract.file,
        place: '/components/securitySchemes',
        message: `${name} has a rule in headers.${side}, but may carry the key of a client: name the headers of keys in keys.headers, or remove the rule`,
      })),
  );
}

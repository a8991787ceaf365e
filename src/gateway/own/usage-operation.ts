import { isObject, type Json, objectsIn } from '@storegate/openapi';
import { USAGE_PATH } from '../../common/reserved-paths.ts';
import type { Contract, Operation } from '../../config/contract/contract.ts';
import gateway from './published/gateway.openapi.json' with { type: 'json' };
import { createNames } from './published/names.ts';
import type { Refusals } from './published/refusals.ts';

const NAME = 'Usage';

/** Free names; the author may use the usual ones. */
interface UsageNames {
  readonly operationId: string;
  readonly tag: { readonly name: string; readonly description: string };
}

type Described = Pick<Contract, 'prefixes' | 'exempted'> & {
  readonly operations: readonly Pick<Operation, 'id' | 'path'>[];
};

/** `null`: the document has another operation at its path, behind a prefix. */
export function usageNames(
  contract: Described,
  { tags }: Readonly<Json>,
): UsageNames | null {
  const all = [...contract.operations, ...contract.exempted];
  if (
    contract.prefixes.some((prefix) => prefix !== '') &&
    all.some(({ path }) => path === USAGE_PATH)
  )
    return null;
  const ids = all.filter(({ path }) => path !== USAGE_PATH).map(({ id }) => id);
  return {
    operationId: createNames(ids)('getUsage'),
    tag: {
      name: createNames(objectsIn(tags).map(({ name }) => String(name)))(NAME),
      description: 'Current usage and limits of your key.',
    },
  };
}

interface PublishedUsage extends UsageNames {
  readonly security: readonly Json[];
  readonly refusals: Refusals;
  readonly openapi: string;
  /** Whether it is at the root of the gateway alone. */
  readonly isAtRoot: boolean;
  readonly isAlone: boolean;
}

const FACTS = {
  needsKey: true,
  hasPathParameters: false,
  takesBody: false,
  checksBody: false,
  requiresScopes: false,
  endsAtSunset: false,
  hasBackend: false,
} as const;

/** What a key is bound to, if there are several APIs. */
const withoutApis = JSON.parse(
  JSON.stringify(gateway.usage),
  (name, value: unknown) => (name === 'apis' ? undefined : value),
) as typeof gateway.usage;

/** OpenAPI 3.0 uses `nullable`, later versions a list of types. */
export function usageItem(usage: PublishedUsage): Json {
  const { operationId, tag, security, openapi, refusals } = usage;
  const described = usage.isAlone ? withoutApis : gateway.usage;
  const own = {
    operationId,
    tags: [tag.name],
    ...described,
    security,
    responses: { ...described.responses, ...refusals.of(FACTS) },
  };
  const get = openapi.startsWith('3.0.') ? own : withTypeLists(own);
  return usage.isAtRoot ? { servers: [{ url: '/' }], get } : { get };
}

function withTypeLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTypeLists);
  if (!isObject(value)) return value;
  const { nullable, ...rest } = value;
  const own = Object.fromEntries(
    Object.entries(rest).map(([name, member]) => [name, withTypeLists(member)]),
  );
  return nullable === true ? { ...own, type: [own.type, 'null'] } : own;
}

/** For the page. It replaces an operation at the same path. */
export function withUsage(contract: Contract) {
  const { title, version, operations, document } = contract;
  const names = usageNames(contract, document);
  if (names === null) return contract;
  const others = operations.filter(({ path }) => path !== USAGE_PATH);
  const own = {
    id: names.operationId,
    method: 'GET',
    path: USAGE_PATH,
    summary: gateway.usage.summary,
    tags: [names.tag.name],
    deprecated: false,
  } satisfies Partial<Operation>;
  return {
    title,
    version,
    operations: [...others, own],
    document: usageGroups(document, names),
  };
}

export function usageGroups(
  { 'x-tagGroups': groups }: Readonly<Json>,
  { tag }: UsageNames,
): Json {
  if (groups === undefined) return {};
  return {
    'x-tagGroups': Array.isArray(groups)
      ? [...groups, { name: 'Gateway', tags: [tag.name] }]
      : groups,
  };
}

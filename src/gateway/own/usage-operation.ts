import { isObject, type Json, objectsIn } from '@storegate/openapi';
import { USAGE_PATH } from '../../common/reserved-paths.ts';
import type { Contract, Operation } from '../../config/contract/contract.ts';
import { FIGURES } from '../../ledger/report.ts';
import { KIND_NAMES } from '../../limits/kinds.ts';
import { createNames } from './published/names.ts';
import type { Refusals } from './published/refusals.ts';

const TEXT = { type: 'string' };
const INTEGER = { type: 'integer' };
const text = (description: string) => ({ ...TEXT, description });
const time = (description: string) => ({
  ...TEXT,
  format: 'date-time',
  nullable: true,
  description,
});
const list = (items: Json, description?: string) => ({
  type: 'array',
  items,
  ...(description && { description }),
});
const object = (properties: Json, required = Object.keys(properties)) => ({
  type: 'object',
  required,
  properties,
});

const WINDOW = object(
  {
    name: TEXT,
    operation: text(
      'The operation whose requests alone it counts, if there is one.',
    ),
    tag: text('The tag whose operations alone it counts, if there is one.'),
    kind: { ...TEXT, enum: [...KIND_NAMES] },
    limit: INTEGER,
    used: INTEGER,
    remaining: INTEGER,
    reset: time('When units come back; null while nothing is used.'),
  },
  ['name', 'kind', 'limit', 'used', 'remaining', 'reset'],
);

const BAN = object({
  until: time('End of the ban in force; null without one.'),
  strikes: {
    ...INTEGER,
    description: 'Requests that were sent too early and count towards a ban.',
  },
  strikesToBan: {
    ...INTEGER,
    nullable: true,
    description: 'Strikes that lead to a ban; null: no bans.',
  },
  nextLengthSeconds: {
    type: 'number',
    nullable: true,
    description: 'How long the next ban would be.',
  },
});

const KEY = {
  ...object({
    id: TEXT,
    label: { ...TEXT, nullable: true },
    scopes: list(TEXT, 'What the key may do where an operation needs scopes.'),
    created: time('When the key was issued.'),
    ageDays: INTEGER,
    expires: time('When the key ends.'),
    rotated: time('When its secret was last changed.'),
    retires: time(
      'When the secret of this very request ends: change to the new one before.',
    ),
  }),
  nullable: true,
};

const DEPRECATED = object({
  operation: text('Its operationId.'),
  lastCall: time('When this key last called it.'),
  sunset: time('When it may be gone.'),
});

const IN_FLIGHT = {
  ...object({ most: INTEGER, now: INTEGER }),
  nullable: true,
  description:
    'Requests that may be in flight at once, and how many are now; null: any number.',
};

const PERIOD = object({
  name: TEXT,
  from: time('Begin of the period.'),
  to: time('End of the period.'),
  since: time('From this time on nothing is missing; null without data.'),
  operations: list(
    object({
      operation: TEXT,
      ...Object.fromEntries(FIGURES.map((name) => [name, INTEGER])),
    }),
    'Requests, charged units, refusals, failures, bytes and durations of this key.',
  ),
});

const REQUIRED = object({
  plan: TEXT,
  account: TEXT,
  countedBy: {
    ...text('Whether all keys of the account share the windows.'),
    enum: ['key', 'account'],
  },
  windows: list(WINDOW),
  inFlight: IN_FLIGHT,
  costs: {
    type: 'object',
    description: 'Units by operationId.',
    additionalProperties: INTEGER,
  },
  ban: BAN,
  key: KEY,
  deprecated: list(
    DEPRECATED,
    'Deprecated operations that this key called lately.',
  ),
});
const BODY = {
  ...REQUIRED,
  properties: { ...REQUIRED.properties, period: PERIOD },
};

const ETAG = {
  ETag: {
    description: 'Send it back as If-None-Match.',
    schema: { type: 'string' },
  },
};

const NAME = 'Usage';
const SUMMARY = 'Show the usage of your key';

const OPERATION = {
  summary: SUMMARY,
  description:
    'Plan, every window, the ban if there is one, and the key itself. Costs nothing, and is answered also while the key is ' +
    'limited or banned, up to 120 times a minute.',
  'x-ratelimit-cost': 0,
  parameters: [
    { name: 'If-None-Match', in: 'header', schema: { type: 'string' } },
    {
      name: 'period',
      in: 'query',
      description:
        'Adds the usage of a month or day in UTC, such as 2030-01; 10 times a minute.',
      schema: { type: 'string', pattern: '^\\d{4}-\\d\\d(-\\d\\d)?$' },
    },
  ],
};

const RESPONSES = {
  '200': {
    description: 'Where you stand.',
    headers: ETAG,
    content: { 'application/json': { schema: BODY } },
  },
  '304': { description: 'Nothing has changed since.', headers: ETAG },
};

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
  { operations, exempted, prefixes }: Described,
  { tags }: Readonly<Json>,
): UsageNames | null {
  const all = [...operations, ...exempted];
  if (isBehindPrefix(prefixes) && all.some(({ path }) => path === USAGE_PATH))
    return null;
  const ids = all.filter(({ path }) => path !== USAGE_PATH).map(({ id }) => id);
  return {
    operationId: createNames(ids)('getUsage'),
    tag: {
      name: createNames(objectsIn(tags).map(({ name }) => String(name)))(NAME),
      description: 'Where your key stands; answered by the gateway itself.',
    },
  };
}

const isBehindPrefix = (prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => prefix !== '');

interface PublishedUsage extends UsageNames {
  readonly security: readonly Json[];
  readonly refusals: Refusals;
  readonly openapi: string;
}

/** OpenAPI 3.0 uses `nullable`, later versions a list of types. */
export function usageItem(
  usage: PublishedUsage,
  prefixes: readonly string[],
): Json {
  const { operationId, tag, security, openapi } = usage;
  const { byStatus, unavailable } = usage.refusals;
  const responses = { ...RESPONSES, ...byStatus, '503': unavailable };
  const own = {
    operationId,
    tags: [tag.name],
    ...OPERATION,
    security,
    responses,
  };
  const get = openapi.startsWith('3.0.') ? own : withTypeLists(own);
  return isBehindPrefix(prefixes) ? { servers: [{ url: '/' }], get } : { get };
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
    summary: SUMMARY,
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

import { isObject, type Json } from '@storegate/openapi';
import { USAGE_PATH } from '../../common/reserved-paths.ts';
import type { Contract, Operation } from '../../config/contract/contract.ts';
import { KIND_NAMES } from '../../limits/kinds.ts';

const TEXT = { type: 'string' };
const INTEGER = { type: 'integer' };
const text = (description: string) => ({ ...TEXT, description });
const time = (description: string) => ({ ...TEXT, format: 'date-time', nullable: true, description });
const list = (items: Json, description?: string) => ({ type: 'array', items, ...(description && { description }) });
const object = (properties: Json, required = Object.keys(properties)) => ({ type: 'object', required, properties });

const WINDOW = object(
  {
    name: TEXT,
    operation: text('The operation whose requests alone it counts, if there is one.'),
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
  strikes: { ...INTEGER, description: 'Requests that were sent too early and count towards a ban.' },
  strikesToBan: { ...INTEGER, nullable: true, description: 'Strikes that lead to a ban; null: no bans.' },
  nextLengthSeconds: { type: 'number', nullable: true, description: 'How long the next ban would be.' },
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
    retires: time('When the secret of this very request ends: change to the new one before.'),
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
  description: 'Requests that may be in flight at once, and how many are now; null: any number.',
};

const BODY = object({
  plan: TEXT,
  account: TEXT,
  countedBy: { ...text('Whether all keys of the account share the windows.'), enum: ['key', 'account'] },
  windows: list(WINDOW),
  inFlight: IN_FLIGHT,
  costs: { type: 'object', description: 'Units by operationId.', additionalProperties: INTEGER },
  ban: BAN,
  key: KEY,
  deprecated: list(DEPRECATED, 'Deprecated operations that this key called lately.'),
});

const REFUSED = object({ code: TEXT, message: TEXT, status: INTEGER });

const ETAG = { ETag: { description: 'Send it back as If-None-Match.', schema: { type: 'string' } } };
const refused = (description: string) => ({ description, content: { 'application/json': { schema: REFUSED } } });

const OPERATION = {
  operationId: 'getUsage',
  tags: ['Usage'],
  summary: 'Show the usage of your key',
  description:
    'Plan, every window, the ban if there is one, and the key itself. Costs nothing, and is answered also while the key is ' +
    'limited or banned, up to 120 times a minute.',
  'x-ratelimit-cost': 0,
  parameters: [{ name: 'If-None-Match', in: 'header', schema: { type: 'string' } }],
  responses: {
    '200': { description: 'Where you stand.', headers: ETAG, content: { 'application/json': { schema: BODY } } },
    '304': { description: 'Nothing has changed since.', headers: ETAG },
    '401': refused('No good key.'),
    '403': refused('The key is restricted to other IP addresses, or has no limits.'),
    '429': refused('Asked too often.'),
    '503': refused('The counters cannot be read at the moment.'),
  },
};

const TAG = { name: 'Usage', description: 'Where your key stands; answered by the gateway itself.' };
const GROUP = { name: 'Gateway', tags: ['Usage'] };

const LISTED = {
  id: OPERATION.operationId,
  method: 'GET',
  path: USAGE_PATH,
  summary: OPERATION.summary,
  tags: OPERATION.tags,
  deprecated: false,
} satisfies Partial<Operation>;

/** OpenAPI 3.0 uses `nullable`, later versions a list of types. */
function operationFor({ openapi }: Readonly<Json>): Json {
  return String(openapi).startsWith('3.0.') ? OPERATION : (withTypeLists(OPERATION) as Json);
}

function withTypeLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTypeLists);
  if (!isObject(value)) return value;
  const { nullable, ...rest } = value;
  const own = Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, withTypeLists(member)]));
  return nullable === true ? { ...own, type: [own.type, 'null'] } : own;
}

/** For the page. It replaces one at the same path. */
export function withUsage({ title, version, operations, document }: Contract) {
  const others = operations.filter(({ path }) => path !== USAGE_PATH);
  return { title, version, operations: [...others, LISTED], document: groupsWithUsage(document) };
}

function groupsWithUsage({ 'x-tagGroups': groups }: Readonly<Json>): Json {
  return groups === undefined ? {} : { 'x-tagGroups': Array.isArray(groups) ? [...groups, GROUP] : groups };
}

export function documentWithUsage(document: Readonly<Json>): Json {
  const { paths, tags } = document;
  return {
    ...document,
    tags: [...(Array.isArray(tags) ? tags : []), TAG],
    ...groupsWithUsage(document),
    paths: { ...(isObject(paths) ? paths : {}), [USAGE_PATH]: { get: operationFor(document) } },
  };
}

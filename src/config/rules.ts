import { apiErrors } from './apis.ts';
import { MIN_BODY_BUDGET } from './config.ts';
import { headerRuleErrors, READ_BY_HEADER_RULES } from './header-rules.ts';
import { pointerTo } from './problems/pointers.ts';
import { type SchemaError, valueError } from './schema/errors.ts';
import { isLoopback } from './schema/formats.ts';
import { type Settings, settingValue } from './settings.ts';
import { formatSize, parseDuration, parseSize } from './units.ts';
import {
  reversedRange,
  STATUSES,
  upstreamErrors,
  upstreamsErrors,
} from './upstreams.ts';

/** Between settings. Only checked if all settings that it reads are valid. */
export interface Rule {
  readonly reads: readonly string[];
  readonly flaws: (settings: Settings) => readonly SchemaError[];
}

export const rules: readonly Rule[] = [
  rule(['workers', 'redis.url'], workersWithoutRedis),
  rule(['redis.topology', 'redis.url'], databaseOfCluster),
  rule(['admin.host', 'admin.token'], openAdmin),
  rule(['admin.port', 'listen.port', 'admin.host', 'listen.host'], sharedPort),
  // Node refuses to create a server that breaks this rule.
  notAbove('http.headersTimeout', 'http.requestTimeout', parseDuration),
  notAbove('http.maxUrlBytes', 'http.maxHeaderBytes', parseSize),
  notAbove(
    'tracing.batch.maxExportBatchSize',
    'tracing.batch.maxQueueSize',
    Number,
  ),
  rule(['http.bodyBudget', 'http.maxBodyBytes', 'operations'], narrowBudget),
  rule(['cors.origins'], anyAndMore),
  {
    reads: [
      'apis',
      'contract.file',
      'upstream.url',
      'upstream.backends',
      'upstreams',
      'reference.enabled',
      'usage.enabled',
    ],
    flaws: apiErrors,
  },
  {
    reads: ['upstream.backends', 'upstream.url', ...STATUSES],
    flaws: upstreamErrors,
  },
  { reads: ['upstreams', ...STATUSES], flaws: upstreamsErrors },
  rule(
    [
      'keys.identity.keyId',
      'keys.identity.account',
      'keys.identity.plan',
      'keys.identity.scopes',
    ],
    sameIdentity,
  ),
  { reads: READ_BY_HEADER_RULES, flaws: headerRuleErrors },
  rule(['cost.refund'], (refund: readonly (string | number)[]) =>
    reversedRange(refund, '/cost/refund'),
  ),
  rule(
    ['webhooks.url', 'webhooks.endpoints', 'webhooks.secret'],
    unsignedWebhooks,
  ),
  rule(['webhooks.endpoints', 'webhooks.url'], duplicateEndpoints),
];

function rule<Values extends readonly unknown[]>(
  reads: { readonly [Index in keyof Values]: string },
  flaws: (...values: Values) => readonly SchemaError[],
): Rule {
  return {
    reads,
    flaws: (settings) =>
      flaws(
        ...(reads.map((name) =>
          settingValue(settings, name),
        ) as unknown as Values),
      ),
  };
}

function workersWithoutRedis(
  workers: number | 'auto',
  redis: string | null,
): SchemaError[] {
  if (workers === 'auto' || workers === 1 || redis !== null) return [];
  const way = 'share the state in a Redis (REDIS_URL), or set workers: 1';
  return [
    valueError(
      '/workers',
      `${workers} workers need shared state, because embedded state belongs to one process: ${way}`,
    ),
  ];
}

/** The client would use database 0, where others may have their data. */
function databaseOfCluster(
  topology: string,
  url: string | null,
): SchemaError[] {
  const hasOther = url !== null && Number(new URL(url).pathname.slice(1)) > 0;
  if (topology !== 'cluster' || !hasOther) return [];
  return [
    valueError(
      '/redis/topology',
      'a Cluster has database 0 alone, and redis.url names another one',
    ),
  ];
}

function openAdmin(host: string, token: string | null): SchemaError[] {
  if (token !== null || isLoopback(host)) return [];
  const why = `because ${host} can be reached from other machines; 127.0.0.1 needs none`;
  return [
    valueError(
      '/admin/host',
      `needs an admin token (STOREGATE_ADMIN_TOKEN), ${why}`,
    ),
  ];
}

function sharedPort(
  port: number,
  other: number,
  ...hosts: readonly string[]
): SchemaError[] {
  const meet =
    hosts[0] === hosts[1] || hosts.includes('0.0.0.0') || hosts.includes('::');
  if (port === 0 || port !== other || !meet) return [];
  return [
    valueError(
      '/admin/port',
      `admin and public listener must not share port ${port}`,
    ),
  ];
}

function notAbove(
  small: string,
  large: string,
  measure: (text: string) => number | null,
): Rule {
  return rule([small, large], (one: unknown, other: unknown) => {
    if (measure(String(one))! <= measure(String(other))!) return [];
    return [
      valueError(
        pointerTo(small),
        `${small} (${one}) must not be more than ${large} (${other})`,
      ),
    ];
  });
}

function narrowBudget(
  budget: string | number,
  maxBodyBytes: string | number,
  operations: Readonly<Record<string, { maxBodyBytes?: string | null } | null>>,
): SchemaError[] {
  const bodies = Object.values(operations).map((one) => one?.maxBodyBytes ?? 0);
  const sizes = [maxBodyBytes, ...bodies].map((size) => parseSize(size)!);
  const least = MIN_BODY_BUDGET * Math.max(...sizes);
  if (budget === 'auto' || parseSize(budget)! >= least) return [];
  const message = `must be at least ${formatSize(least)}, ${MIN_BODY_BUDGET} times the largest maxBodyBytes`;
  return [valueError('/http/bodyBudget', message)];
}

function anyAndMore(origins: readonly string[]): SchemaError[] {
  const any = origins.indexOf('*');
  if (any === -1 || origins.length === 1) return [];
  return [
    valueError(`/cors/origins/${any}`, "must stand alone: '*' is every origin"),
  ];
}

function sameIdentity(...names: readonly (string | null)[]): SchemaError[] {
  const lowerCase = names.map((name) => name?.toLowerCase());
  const second = lowerCase.findIndex(
    (name, i) => name !== undefined && lowerCase.indexOf(name) < i,
  );
  if (second === -1) return [];
  const member = ['keyId', 'account', 'plan', 'scopes'][second]!;
  return [
    valueError(
      `/keys/identity/${member}`,
      `must not be ${names[second]}: another header of the identity has that name`,
    ),
  ];
}

function unsignedWebhooks(
  url: string | null,
  endpoints: readonly unknown[],
  secret: string | null,
): SchemaError[] {
  if ((url === null && endpoints.length === 0) || secret !== null) return [];
  const why = 'with which endpoints verify events';
  return [
    valueError(
      '/webhooks/url',
      `needs webhooks.secret (STOREGATE_WEBHOOK_SECRET), ${why}`,
    ),
  ];
}

function duplicateEndpoints(
  endpoints: readonly { readonly url: string }[],
  first: string | null,
): SchemaError[] {
  const urls = endpoints.map(({ url }) => new URL(url).href);
  const all = [...(first === null ? [] : [new URL(first).href]), ...urls];
  const before = all.length - urls.length;
  return urls.flatMap((url, index) => {
    if (all.indexOf(url) === index + before) return [];
    return [
      valueError(
        `/webhooks/endpoints/${index}/url`,
        'is listed twice: list all events of an endpoint once',
      ),
    ];
  });
}

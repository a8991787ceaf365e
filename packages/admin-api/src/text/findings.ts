import type { Finding, Readiness } from '../generated/types.ts';

/**
 * `text`: one sentence, in which `$` stands for the detail. `action`: what operators do. `command`:
 * what does it, or shows more, in a terminal; pages have links instead.
 */
interface FindingText extends Pick<Finding, 'status' | 'text' | 'action'> {
  readonly command?: string;
}

const withStatus =
  (status: Finding['status']) =>
  (text: string, action = '', command?: string): FindingText => ({
    status,
    text,
    action,
    ...(command && { command }),
  });
const [down, degraded, ok] = [
  withStatus('down'),
  withStatus('degraded'),
  withStatus('ok'),
];

const CHECK_REDIS = 'Check Redis and the network.';
const RENEW = 'Renew it: new files are loaded without a restart.';

/** Every finding by its type, in the order of their weight. */
export const FINDINGS = {
  no_gateway: down('No gateway is running.', 'Start one.', 'serve'),
  no_gateway_responds: down(
    '$ did not respond.',
    'Check its process and the end of its log.',
  ),
  redis_down_deny: down(
    'Redis is down, and redis.onOutage refuses requests: $.',
    CHECK_REDIS,
  ),
  upstream_down: down(
    '$, so its requests fail.',
    'Check the backends.',
    'backends',
  ),
  listener_certificate: down('Clients cannot connect: $.', RENEW),
  no_gateway_ready: down(
    'No gateway accepts requests: $.',
    'Read the log of a gateway.',
  ),
  requests_fail: down(
    '$ of the requests of the last minute failed (5xx).',
    'Look at what failed.',
    'requests',
  ),
  redis_down_allow: degraded(
    'Redis is down, so requests are not counted: $.',
    CHECK_REDIS,
  ),
  redis_down_local: degraded(
    'Redis is down, so each gateway counts by itself: $.',
    CHECK_REDIS,
  ),
  redis_data_doubted: degraded(
    'Redis may have come up without its data: keys that it lacks get 503, and changes are refused.',
    'Restore its data, or what it has is used after 30 s.',
  ),
  redis_data_lost: degraded(
    'Redis has other data than before ($): what it lacks is gone, such as new keys and revocations.',
    'Unless you replaced it, restore a backup, or repeat the changes.',
  ),
  unsaved: degraded(
    'Counters and changes are not saved: $.',
    'Free space in the data folder, or correct its permissions.',
  ),
  backend_down: degraded('Backend $.', 'Check the backend.', 'backends'),
  gateway_lost: degraded(
    '$ did not shut down, and no gateway has replaced it.',
    'Start a gateway, or forget this one.',
    'status forget NAME',
  ),
  gateway_not_ready: degraded(
    'A gateway accepts no requests: $.',
    'Read its log.',
  ),
  gateway_unresponsive: degraded(
    '$ did not respond.',
    'Check its process and the network.',
  ),
  workers_missing: degraded(
    '$ did not respond.',
    'Find worker.ended in the log.',
  ),
  some_requests_fail: degraded(
    '$ of the requests of the last minute failed (5xx).',
    'Look at what failed.',
    'requests',
  ),
  certificate_expired: degraded('TLS fails: $.', RENEW),
  certificate_expires: degraded('A certificate must be renewed: $.', RENEW),
  peers_unreachable: degraded(
    'Other gateways are unreachable, so figures are of one gateway alone.',
    CHECK_REDIS,
  ),
  redis_connection: degraded(
    'A connection to Redis is lost, so changes of other gateways arrive late.',
    CHECK_REDIS,
  ),
  key_cache_old: degraded(
    'The key cache is older than 30 minutes.',
    'Find state.warning in the log: mostly the Redis user lacks a right.',
  ),
  reload_refused: degraded(
    'A reload was refused: $.',
    'Correct the file: the gateway then reads it by itself.',
  ),
  configuration_differs: degraded(
    'A gateway differs from most gateways in $.',
    'Give all gateways the same files.',
    'config diff',
  ),
  contract_copy: degraded(
    'The contract is a copy, because its URL $.',
    'Make the URL reachable, then reload.',
    'reload',
  ),
  bans_dropped: degraded(
    'The log of bans lacks $.',
    'Check Redis and the data folder.',
  ),
  usage_dropped: degraded(
    'The usage lacks $.',
    'Check Redis and the data folder, which could not store it.',
  ),
  usage_not_exported: degraded(
    'The billing system at usage.export.url accepts no usage: $.',
    'Check the billing system, the URL and the token.',
  ),
  usage_refused: degraded(
    'The billing system at usage.export.url refused $, not exported.',
    'Find usage.export_refused in the log.',
  ),
  log_dropped: degraded(
    'The log lacks $.',
    'Check the disk of the log, or the program that reads it.',
  ),
  many_refused: ok('Limits refused $.', '', 'top --by refused --window minute'),
  backend_waiting: ok('$ waiting for a backend connection.'),
  gateway_replaced: ok(
    '$ did not shut down, and another gateway has replaced it.',
  ),
  gateway_stopping: ok('A gateway is stopping.'),
  restart_pending: ok('A change in the files needs a restart: $.'),
} as const satisfies Readonly<Record<string, FindingText>>;

export type FindingType = keyof typeof FINDINGS;

const REDIS_DOWN = [
  'redis_down_deny',
  'redis_down_allow',
  'redis_down_local',
] as const;

/** What may cause a finding. It then is listed below its cause. */
export const CAUSES: Readonly<
  Partial<Record<FindingType, readonly FindingType[]>>
> = {
  no_gateway_ready: ['upstream_down', ...REDIS_DOWN],
  gateway_not_ready: ['upstream_down', ...REDIS_DOWN],
  requests_fail: ['upstream_down', 'redis_down_deny', 'backend_down'],
  some_requests_fail: ['upstream_down', 'redis_down_deny', 'backend_down'],
  backend_waiting: ['upstream_down', 'backend_down'],
  peers_unreachable: REDIS_DOWN,
  redis_connection: REDIS_DOWN,
  key_cache_old: REDIS_DOWN,
  bans_dropped: [...REDIS_DOWN, 'unsaved'],
  usage_dropped: [...REDIS_DOWN, 'unsaved'],
  log_dropped: ['unsaved'],
};

/** Why a gateway is not ready. */
export const READINESS: Readonly<Record<Readiness, string>> = {
  ready: 'ready',
  stopping: 'it is stopping',
  state_down: 'the shared state is down',
  upstreams_down: 'all backends of an upstream are down',
  no_workers: 'it has no worker',
};

import type { Finding, Readiness } from '../generated/types.ts';

/** `text`: one sentence, in which `$` stands for the detail. `action`: what operators do. */
type Words = Pick<Finding, 'status' | 'text' | 'action'>;

const words =
  (status: Finding['status']) =>
  (text: string, action = ''): Words => ({ status, text, action });
const [down, degraded, ok] = [words('down'), words('degraded'), words('ok')];

const CHECK_REDIS = 'Check Redis and the network.';
const RENEW = 'Renew it: new files are loaded without a restart.';

/** Every finding by its type: what it means for clients, its sentence, and what to do. */
export const FINDINGS = {
  no_gateway: down('No gateway is running.', 'Start one: storegate serve.'),
  no_gateway_responds: down(
    '$ did not respond.',
    'Check its process and the end of its log.',
  ),
  no_gateway_ready: down(
    'No gateway accepts requests: $.',
    'Read the log of a gateway.',
  ),
  upstream_down: down(
    '$, so its requests fail.',
    'Check the backends: storegate backends.',
  ),
  requests_fail: down(
    '$ of the requests of the last minute failed (5xx).',
    'See why: storegate requests.',
  ),
  redis_down_deny: down(
    'Redis is down, and redis.onOutage refuses requests: $.',
    CHECK_REDIS,
  ),
  listener_certificate: down('Clients cannot connect: $.', RENEW),
  some_requests_fail: degraded(
    '$ of the requests of the last minute failed (5xx).',
    'See why: storegate requests.',
  ),
  redis_down_local: degraded(
    'Redis is down, so each gateway counts by itself: $.',
    CHECK_REDIS,
  ),
  redis_down_allow: degraded(
    'Redis is down, so requests are not counted: $.',
    CHECK_REDIS,
  ),
  redis_connection: degraded(
    'A connection to Redis is lost, so changes of other gateways arrive late.',
    CHECK_REDIS,
  ),
  unsaved: degraded(
    'Counters and changes are not saved: $.',
    'Free space in the data folder, or correct its permissions.',
  ),
  log_dropped: degraded(
    'The log lacks $.',
    'Check the disk of the log, or the program that reads it.',
  ),
  usage_dropped: degraded(
    'The usage lacks $.',
    'Check Redis and the data folder, which could not store it.',
  ),
  usage_not_exported: degraded(
    'The receiver of usage.export.url accepts no usage: $.',
    'Check the receiver, the URL and the token.',
  ),
  usage_refused: degraded(
    'The receiver of usage.export.url refused $, not exported.',
    'Find usage.export_refused in the log.',
  ),
  bans_dropped: degraded(
    'The log of bans lacks $.',
    'Check Redis and the data folder.',
  ),
  key_cache_old: degraded(
    'The key cache is older than 30 minutes.',
    'Find state.warning in the log: mostly the Redis user lacks a right.',
  ),
  certificate_expired: degraded('TLS fails: $.', RENEW),
  certificate_expires: degraded('A certificate must be renewed: $.', RENEW),
  reload_refused: degraded(
    'A reload was refused: $.',
    'Correct the file: the gateway then reads it by itself.',
  ),
  contract_copy: degraded(
    'The contract is a copy, because its URL $.',
    'Make the URL reachable, and run storegate reload.',
  ),
  configuration_differs: degraded(
    'A gateway differs from most gateways in $.',
    'Give all gateways the same files: storegate config diff.',
  ),
  workers_missing: degraded(
    '$ did not respond.',
    'Find worker.ended in the log.',
  ),
  gateway_not_ready: degraded(
    'A gateway accepts no requests: $.',
    'Read its log.',
  ),
  gateway_unresponsive: degraded(
    '$ did not respond.',
    'Check its process and the network.',
  ),
  gateway_lost: degraded(
    '$ did not shut down, and no gateway has replaced it.',
    'Start a gateway, or run storegate status forget NAME.',
  ),
  peers_unreachable: degraded(
    'Other gateways are unreachable: $.',
    CHECK_REDIS,
  ),
  backend_down: degraded(
    'Backend $.',
    'Check the backend: storegate backends.',
  ),
  gateway_replaced: ok(
    '$ did not shut down, and another gateway has replaced it.',
  ),
  gateway_stopping: ok('A gateway is stopping.'),
  many_refused: ok(
    'Limits refused $.',
    'See storegate top --by refused --window minute.',
  ),
  backend_waiting: ok('$ waiting for a backend connection.'),
  restart_pending: ok('A change in the files needs a restart: $.'),
} as const satisfies Readonly<Record<string, Words>>;

export type FindingType = keyof typeof FINDINGS;

/** Why a gateway is not ready. */
export const READINESS: Readonly<Record<Readiness, string>> = {
  ready: 'ready',
  stopping: 'it is stopping',
  state_down: 'the shared state is down',
  upstreams_down: 'all backends of an upstream are down',
  no_workers: 'it has no worker',
};

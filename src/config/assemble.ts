import { availableParallelism, totalmem } from 'node:os';
import { resolve } from 'node:path';
import type { Plans } from '../limits/plans.ts';
import type { ListFiles, WrittenLists } from './address-lists.ts';
import {
  BODIES_AT_LEAST,
  type Config,
  type ConsoleLink,
  type LogLevel,
  type Mount,
  type RedisSettings,
  type ServerTlsFiles,
  type Tracing,
} from './config.ts';
import { readPairs } from './pairs.ts';
import type { SettingsReader } from './settings.ts';
import { parseDuration, parseSize } from './units.ts';
import { normalUrl, upstreamOf, upstreamsOf } from './upstreams.ts';

interface Surroundings {
  readonly plans: Plans;
  /** The settings file, absolute. */
  readonly gateway: string;
  readonly cwd: string;
  readonly lists: ListFiles;
}

/** Turns checked settings into the Config: units become numbers, paths absolute. */
export function assemble(read: SettingsReader, { plans, gateway, cwd, lists }: Surroundings): Config {
  const path = (name: string): string => resolve(cwd, read.text(name));
  const pathOrNull = (name: string): string | null => (read.textOrNull(name) === null ? null : path(name));
  const serverTls = (name: string): ServerTlsFiles => ({
    cert: pathOrNull(`${name}.cert`),
    key: pathOrNull(`${name}.key`),
    certificates: read
      .list<ServerTlsFiles['certificates'][number]>(`${name}.certificates`)
      .map(({ cert, key }) => ({ cert: resolve(cwd, cert), key: resolve(cwd, key) })),
  });
  const span = (name: string): number => parseDuration(read.text(name))!;
  const size = (name: string): number => parseSize(read.raw(name))!;
  const redis = read.textOrNull('redis.url');
  return {
    workers: workersOf(read.raw('workers'), redis !== null),
    listen: {
      host: read.text('listen.host'),
      port: read.number('listen.port'),
      tls: {
        ...serverTls('listen.tls'),
        minVersion: read.text('listen.tls.minVersion') as Config['listen']['tls']['minVersion'],
      },
      proxyProtocol: { from: [...read.list<string>('listen.proxyProtocol.from')] },
    },
    admin: {
      host: read.text('admin.host'),
      port: read.number('admin.port'),
      token: read.textOrNull('admin.token'),
      tls: { ...serverTls('admin.tls'), clientCa: pathOrNull('admin.tls.clientCa') },
    },
    data: path('data'),
    redis:
      redis === null
        ? null
        : {
            url: redis,
            topology: read.text('redis.topology') as RedisSettings['topology'],
            nodes: [...read.list<string>('redis.nodes')],
            master: read.text('redis.master'),
            sentinelPassword: read.textOrNull('redis.sentinelPassword'),
            deadline: span('redis.deadline'),
            misses: read.number('redis.misses'),
            whenAway: read.text('redis.whenAway') as RedisSettings['whenAway'],
            divide: read.flag('redis.divide'),
            readyWhenAway: read.flag('redis.readyWhenAway'),
            refusedFor: span('redis.refusedFor'),
            keysFor: span('redis.keysFor'),
            keyCopy: {
              enabled: read.flag('redis.keyCopy.enabled'),
              sweep: span('redis.keyCopy.sweep'),
              maxAge: span('redis.keyCopy.maxAge'),
            },
          },
    upstream: upstreamOf(read, cwd),
    upstreams: upstreamsOf(read, cwd),
    contract: {
      file: path('contract.file'),
      responses: read.text('contract.responses') as Config['contract']['responses'],
      leniency: read.text('contract.leniency') as Config['contract']['leniency'],
      serverPath: read.text('contract.serverPath') as Config['contract']['serverPath'],
      encodedCommas: read.text('contract.encodedCommas') as Config['contract']['encodedCommas'],
      integers: read.text('contract.integers') as Config['contract']['integers'],
      readOnly: read.text('contract.readOnly') as Config['contract']['readOnly'],
      maxDepth: read.number('contract.maxDepth'),
      unknownQuery: read.text('contract.unknownQuery') as Config['contract']['unknownQuery'],
      afterSunset: read.text('contract.afterSunset') as Config['contract']['afterSunset'],
    },
    plans,
    door: {
      trustedProxies: [...read.list<string>('door.trustedProxies')],
      stripHeaders: [...read.list<string>('door.stripHeaders')],
      maxConnections: read.number('door.maxConnections'),
      maxConnectionsPerAddress: read.raw('door.maxConnectionsPerAddress') as Config['door']['maxConnectionsPerAddress'],
      maxHeaderBytes: size('door.maxHeaderBytes'),
      maxHeaders: read.number('door.maxHeaders'),
      maxUrlBytes: size('door.maxUrlBytes'),
      maxBodyBytes: size('door.maxBodyBytes'),
      bodyBudget: budgetOf(read.raw('door.bodyBudget'), size('door.maxBodyBytes')),
      minBodyRate: size('door.minBodyRate'),
      headersTimeout: span('door.headersTimeout'),
      requestTimeout: span('door.requestTimeout'),
      keepAliveTimeout: span('door.keepAliveTimeout'),
      maxRequestsPerConnection: read.number('door.maxRequestsPerConnection'),
      stallTimeout: span('door.stallTimeout'),
      drainDelay: span('door.drainDelay'),
      drainTimeout: span('door.drainTimeout'),
      guard: { failures: read.number('door.guard.failures'), span: span('door.guard.span') },
    },
    addresses: lists.listsOf({ allow: read.list('addresses.allow'), deny: read.list('addresses.deny') }),
    mounts: read.list<MountEntry>('mounts').map((mount) => mountOf(mount, lists)),
    cors: { origins: [...read.list<string>('cors.origins')], maxAge: span('cors.maxAge') },
    reference: { enabled: read.flag('reference.enabled') },
    console: {
      enabled: read.flag('console.enabled'),
      idle: span('console.idle'),
      links: read.list<ConsoleLink>('console.links').map(({ title, url }) => ({ title, url: new URL(url).href })),
    },
    audit: {
      keep: read.number('audit.keep'),
      bans: { keep: read.number('audit.bans.keep'), for: span('audit.bans.for') },
    },
    webhooks: {
      url: read.textOrNull('webhooks.url'),
      secret: read.textOrNull('webhooks.secret'),
      previousSecret: read.textOrNull('webhooks.previousSecret'),
      events: [...read.list<string>('webhooks.events')],
      endpoints: read
        .list<{ url: string; events?: readonly string[] }>('webhooks.endpoints')
        .map(({ url, events = [] }) => ({ url, events })),
      timeout: span('webhooks.timeout'),
      keep: span('webhooks.keep'),
      waiting: read.number('webhooks.waiting'),
      expiring: span('webhooks.expiring'),
      quota: span('webhooks.quota'),
    },
    explain: { requests: read.number('explain.requests'), sample: read.number('explain.sample') },
    tracing: tracingOf(read, path),
    log: {
      level: read.text('log.level') as LogLevel,
      requests: read.flag('log.requests'),
      format: read.text('log.format') as Config['log']['format'],
    },
    files: { gateway, plans: path('plans.file'), addresses: lists.paths },
  };
}

function tracingOf(read: SettingsReader, path: (name: string) => string): Tracing {
  const span = (name: string): number => parseDuration(read.text(name))!;
  const url = (name: string): string | null => addressOf(read.textOrNull(name));
  const file = (name: string): string | null => (read.textOrNull(name) === null ? null : path(name));
  const pairs = (name: string) => readPairs(read.textOrNull(name) ?? '');
  return {
    endpoint: url('tracing.endpoint'),
    tracesEndpoint: url('tracing.tracesEndpoint'),
    exporter: read.text('tracing.exporter') as Tracing['exporter'],
    protocol: read.text('tracing.protocol') as Tracing['protocol'],
    headers: pairs('tracing.headers'),
    compression: read.text('tracing.compression') as Tracing['compression'],
    timeout: span('tracing.timeout'),
    certificate: file('tracing.certificate'),
    clientCertificate: file('tracing.clientCertificate'),
    clientKey: file('tracing.clientKey'),
    sampler: read.text('tracing.sampler') as Tracing['sampler'],
    ratio: read.number('tracing.ratio'),
    parents: read.text('tracing.parents') as Tracing['parents'],
    service: read.textOrNull('tracing.service'),
    resource: pairs('tracing.resource'),
    batch: {
      queue: read.number('tracing.batch.queue'),
      size: read.number('tracing.batch.size'),
      delay: span('tracing.batch.delay'),
      timeout: span('tracing.batch.timeout'),
    },
    clientAddress: read.flag('tracing.clientAddress'),
    serverTiming: read.flag('tracing.serverTiming'),
  };
}

function addressOf(url: string | null): string | null {
  return url === null ? null : new URL(url).href;
}

/** The maximum of the schema. */
const MOST_WORKERS = 256;

/** Embedded state belongs to one process, and a rule refuses any higher number. */
function workersOf(workers: string | number, shared: boolean): number {
  if (typeof workers === 'number') return workers;
  return shared ? Math.min(availableParallelism(), MOST_WORKERS) : 1;
}

/** A sixty-fourth of the memory this process may have, 8 to 16 MiB; more only where single bodies may be that large. */
function budgetOf(budget: string | number, maxBodyBytes: number): number {
  if (budget !== 'auto') return parseSize(budget)!;
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const share = Math.min(Math.max(memory / 64, 8 * 1024 ** 2), 16 * 1024 ** 2);
  return Math.max(Math.floor(share), BODIES_AT_LEAST * maxBodyBytes);
}

type MountEntry = Pick<Mount, 'path'> &
  Partial<Omit<Mount, 'addresses'>> & { readonly stripPrefix?: boolean; readonly addresses?: WrittenLists };

function mountOf(entry: MountEntry, lists: ListFiles): Mount {
  const { path, target = null, upstream = null, websocket = false, stripPrefix = false, addresses } = entry;
  const rewrite = stripPrefix ? '' : (entry.rewrite ?? null);
  const leadsTo = { target: target === null ? null : normalUrl(target), upstream };
  return { path, ...leadsTo, websocket, rewrite, addresses: lists.listsOf(addresses) };
}

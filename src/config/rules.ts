import { OWN_PATHS } from '../common/own-paths.ts';
import { BODIES_AT_LEAST, type Mount } from './config.ts';
import { pointerTo } from './problems/pointers.ts';
import type { Flaw } from './schema/flaws.ts';
import { isLoopback } from './schema/formats.ts';
import type { SettingsReader } from './settings.ts';
import { formatSize, parseDuration, parseSize } from './units.ts';
import { mountFlaws, STATUSES, upstreamFlaws, upstreamsFlaws } from './upstreams.ts';

/** A rule between settings that a schema cannot express. It is only checked if all settings that it reads are valid. */
export interface Rule {
  readonly reads: readonly string[];
  readonly flaws: (settings: SettingsReader) => readonly Flaw[];
}

export const rules: readonly Rule[] = [
  { reads: ['workers', 'redis.url'], flaws: workersWithoutRedis },
  { reads: ['admin.host', 'admin.token'], flaws: openAdmin },
  { reads: ['admin.port', 'listen.port', 'admin.host', 'listen.host'], flaws: sharedPort },
  // Node refuses to create a server that breaks this rule.
  notAbove('door.headersTimeout', 'door.requestTimeout', parseDuration),
  notAbove('door.maxUrlBytes', 'door.maxHeaderBytes', parseSize),
  notAbove('tracing.batch.size', 'tracing.batch.queue', Number),
  { reads: ['door.bodyBudget', 'door.maxBodyBytes'], flaws: narrowBudget },
  { reads: ['cors.origins'], flaws: anyAndMore },
  { reads: ['mounts'], flaws: overlappingMounts },
  { reads: ['upstream.stores', 'upstream.url', ...STATUSES], flaws: upstreamFlaws },
  { reads: ['upstreams', ...STATUSES], flaws: upstreamsFlaws },
  { reads: ['mounts'], flaws: rewrittenTwice },
  { reads: ['mounts', 'upstreams'], flaws: mountFlaws },
  { reads: ['webhooks.url', 'webhooks.endpoints', 'webhooks.secret'], flaws: unsignedWebhooks },
  { reads: ['webhooks.endpoints', 'webhooks.url'], flaws: repeatedReceivers },
];

function workersWithoutRedis(settings: SettingsReader): Flaw[] {
  const workers = settings.raw('workers');
  if (typeof workers === 'string' || workers === 1 || settings.textOrNull('redis.url') !== null) return [];
  const way = 'share the state in a Redis (REDIS_URL), or set workers: 1';
  return [
    flaw('/workers', `${workers} workers need shared state, because embedded state belongs to one process: ${way}`),
  ];
}

function openAdmin(settings: SettingsReader): Flaw[] {
  const host = settings.text('admin.host');
  if (settings.textOrNull('admin.token') !== null || isLoopback(host)) return [];
  const why = `because ${host} can be reached from other machines; 127.0.0.1 needs none`;
  return [flaw('/admin/host', `needs an admin token (STOREGATE_ADMIN_TOKEN), ${why}`)];
}

function sharedPort(settings: SettingsReader): Flaw[] {
  const port = settings.number('admin.port');
  const hosts = [settings.text('admin.host'), settings.text('listen.host')];
  const meet = hosts[0] === hosts[1] || hosts.includes('0.0.0.0') || hosts.includes('::');
  if (port === 0 || port !== settings.number('listen.port') || !meet) return [];
  return [flaw('/admin/port', `admin and public listener must not share port ${port}`)];
}

function notAbove(small: string, large: string, measure: (text: string) => number | null): Rule {
  const flaws = (settings: SettingsReader): Flaw[] => {
    const [one, other] = [String(settings.raw(small)), String(settings.raw(large))];
    if (measure(one)! <= measure(other)!) return [];
    return [flaw(pointerTo(small), `${small} (${one}) must not be more than ${large} (${other})`)];
  };
  return { reads: [small, large], flaws };
}

function narrowBudget(settings: SettingsReader): Flaw[] {
  const [budget, most] = [settings.raw('door.bodyBudget'), parseSize(settings.raw('door.maxBodyBytes'))!];
  if (budget === 'auto' || parseSize(budget)! >= BODIES_AT_LEAST * most) return [];
  const least = formatSize(BODIES_AT_LEAST * most);
  return [flaw('/door/bodyBudget', `must be at least ${least}, ${BODIES_AT_LEAST} times door.maxBodyBytes`)];
}

function anyAndMore(settings: SettingsReader): Flaw[] {
  const origins = settings.list<string>('cors.origins');
  const any = origins.indexOf('*');
  if (any === -1 || origins.length === 1) return [];
  return [flaw(`/cors/origins/${any}`, "must stand alone: '*' is every origin")];
}

function overlappingMounts(settings: SettingsReader): Flaw[] {
  const paths = settings.list<Mount>('mounts').map((mount) => mount.path);
  return paths.flatMap((path, index) => {
    const pointer = `/mounts/${index}/path`;
    const own = OWN_PATHS.find((other) => overlap(path, other));
    if (own !== undefined) return [flaw(pointer, `must not overlap ${own}, which the gateway answers itself`)];
    const earlier = paths.slice(0, index).find((other) => overlap(path, other));
    return earlier === undefined ? [] : [flaw(pointer, `must not overlap ${earlier}, a mount above`)];
  });
}

function rewrittenTwice(settings: SettingsReader): Flaw[] {
  const mounts = settings.list<{ readonly stripPrefix?: boolean; readonly rewrite?: string }>('mounts');
  return mounts.flatMap(({ stripPrefix = false, rewrite }, index) =>
    stripPrefix && rewrite !== undefined
      ? [
          flaw(
            `/mounts/${index}/rewrite`,
            'must not stand beside stripPrefix: it takes the place of the prefix already',
          ),
        ]
      : [],
  );
}

function unsignedWebhooks(settings: SettingsReader): Flaw[] {
  const isOn = settings.textOrNull('webhooks.url') !== null || settings.list('webhooks.endpoints').length > 0;
  if (!isOn || settings.textOrNull('webhooks.secret') !== null) return [];
  return [
    flaw(
      '/webhooks/url',
      'needs webhooks.secret (STOREGATE_WEBHOOK_SECRET), by which receivers know that an event is true',
    ),
  ];
}

function repeatedReceivers(settings: SettingsReader): Flaw[] {
  const urls = settings.list<{ readonly url: string }>('webhooks.endpoints').map(({ url }) => new URL(url).href);
  const first = settings.textOrNull('webhooks.url');
  const all = [...(first === null ? [] : [new URL(first).href]), ...urls];
  const before = all.length - urls.length;
  return urls.flatMap((url, index) => {
    if (all.indexOf(url) === index + before) return [];
    return [flaw(`/webhooks/endpoints/${index}/url`, 'stands here twice: give a receiver all its events in one place')];
  });
}

/** Whether one path is the other or lies below it, ignoring case. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [`${one}/`.toLowerCase(), `${other}/`.toLowerCase()];
  return a.startsWith(b) || b.startsWith(a);
}

function flaw(pointer: string, message: string): Flaw {
  return { pointer, at: 'value', message };
}

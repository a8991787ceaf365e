import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Schema } from '../../src/config/schema/schema.ts';
import { putAt, settingsOf } from '../../src/config/settings.ts';
import { parseDuration, parseSize } from '../../src/config/units.ts';

export const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
export const OTHER_SECRET = `whsec_${Buffer.alloc(64, 2).toString('base64')}`;

export const OTHER_FILES = {
  'other.yaml': 'plans: { free: { custom: true } }',
  'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
};

/** The schema does not define which texts, lists and maps are valid. */
const WRITTEN: Readonly<Record<string, unknown>> = {
  'listen.host': '127.0.0.1',
  'listen.tls.certificates': [{ cert: 'shop.crt', key: 'shop.key' }],
  'listen.proxyProtocol.trustedBalancers': ['10.0.0.0/8'],
  'admin.host': '::1',
  'admin.token': 'sixteen-characters',
  'admin.tls.certificates': [{ cert: 'ops.crt', key: 'ops.key' }],
  'redis.url': 'rediss://redis.example:1/2',
  'redis.nodes': ['redis-2.example:6379'],
  'redis.master': 'other',
  'redis.sentinelPassword': 'secret',
  'upstream.url': 'http://store.example',
  'upstream.backends': [{ url: 'http://store.example', weight: 2 }],
  'upstream.tls.serverName': 'backend.example',
  'upstream.healthChecks.path': '/health',
  'upstream.healthChecks.statuses': [204],
  'upstream.ejection.statuses': ['500-599'],
  'upstream.retries.on': ['connect'],
  upstreams: { stock: { url: 'http://stock.example' } },
  'contract.file': 'other.yaml',
  'keys.headers': ['X-Shop-Key'],
  'keys.identity.keyId': 'X-Key',
  'keys.identity.account': 'X-Account',
  'keys.identity.plan': 'X-Plan',
  'keys.identity.scopes': 'X-Scopes',
  'http.trustedProxies': ['10.0.0.0/8'],
  'http.stripHeaders': [],
  'http.maxConnectionsPerAddress': 10,
  'http.bodyBudget': '32MiB',
  'addresses.allow': ['10.0.0.0/8'],
  'addresses.deny': ['10.1.0.0/16'],
  apis: [
    {
      name: 'files',
      path: '/files',
      contract: 'none',
      stripPath: false,
      target: 'http://files.example',
    },
  ],
  'cors.origins': [],
  'headers.request.set': { 'X-Edge': 'eu' },
  'headers.request.remove': ['X-Debug'],
  'headers.response.set': { 'X-Frame-Options': 'DENY' },
  'headers.response.remove': ['Server'],
  operations: { listPets: { cost: 2 } },
  'reference.title': 'Shop',
  'reference.logo': 'logo.svg',
  'console.links': [{ title: 'Grafana', url: 'https://grafana.example/' }],
  'webhooks.url': 'https://ops.example/storegate',
  'webhooks.secret': OTHER_SECRET,
  'webhooks.previousSecret': SECRET,
  'webhooks.events': ['ban.started'],
  'webhooks.endpoints': [{ url: 'https://ops.example/bans' }],
  'cost.header': 'X-Usage-Units',
  'cost.refund': ['500-599'],
  'usage.export.url': 'https://meter.example/api/v1/events',
  'usage.export.token': 'om_sixteen-characters',
  'tracing.endpoint': 'http://collector.example:4318',
  'tracing.tracesEndpoint': 'http://collector.example:4318/otlp',
  'tracing.headers': 'authorization=Bearer%20sixteen',
  'tracing.serviceName': 'edge',
  'tracing.resourceAttributes': 'deployment.environment.name=test',
};

/** For each setting a valid value that is not its default. */
export const OTHER_VALUES: Readonly<Record<string, unknown>> = Object.fromEntries(
  [...settingsOf('gateway')].map(([name, schema]) => [
    name,
    WRITTEN[name] ?? otherValue(name, schema),
  ]),
);

function otherValue(name: string, schema: Schema): unknown {
  const { default: usual, enum: words, minimum = 0, maximum = 0, type, 'x-unit': unit } = schema;
  if (words !== undefined) return words.find((word) => word !== usual);
  if (unit === 'path') return 'other.yaml';
  if (unit === 'duration') return `${parseDuration(usual as string)! + 1}ms`;
  if (unit === 'size') return parseSize(usual as string)! + 1;
  if (typeof usual === 'boolean') return !usual;
  if (typeof usual !== 'number') throw new TypeError(`WRITTEN needs a valid value of ${name}`);
  if (type === 'number') return (usual + minimum) / 2;
  return usual < maximum ? usual + 1 : usual - 1;
}

/** `written`: settings by dotted name. */
export function loadSettings(
  cwd: string,
  written: Readonly<Record<string, unknown>>,
  env: Environment = {},
): Config {
  const document: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(written)) putAt(document, name, value);
  writeFileSync(join(cwd, 'gateway.yaml'), JSON.stringify(document));
  return loadConfig({ env: { STOREGATE_CONFIG: 'gateway.yaml', ...env }, cwd });
}

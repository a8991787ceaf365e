import { suggest } from '../common/suggest.ts';
import { pointerTo } from './problems/pointers.ts';
import type { Problem } from './problems/problems.ts';
import { printable } from './problems/quote.ts';
import { schemaFlaws } from './schema/flaws.ts';
import { readSecret } from './secret-file.ts';
import { putAt } from './settings.ts';

/** Like `process.env`; an empty variable counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Every environment variable of the gateway, and the setting that it beats. The names never change. */
export const environmentVariables = {
  STOREGATE_WORKERS: 'workers',
  STOREGATE_HOST: 'listen.host',
  STOREGATE_PORT: 'listen.port',
  /** Files; these and the ones of the admin listener are paths, not secrets. */
  STOREGATE_TLS_CERT: 'listen.tls.cert',
  STOREGATE_TLS_KEY: 'listen.tls.key',
  STOREGATE_ADMIN_HOST: 'admin.host',
  STOREGATE_ADMIN_PORT: 'admin.port',
  STOREGATE_ADMIN_TOKEN: 'admin.token',
  /** This and the other variables of files hold the path of a secret, in place of the secret. These are no settings. */
  STOREGATE_ADMIN_TOKEN_FILE: null,
  STOREGATE_ADMIN_TLS_CERT: 'admin.tls.cert',
  STOREGATE_ADMIN_TLS_KEY: 'admin.tls.key',
  STOREGATE_ADMIN_TLS_CLIENT_CA: 'admin.tls.clientCa',
  /** For commands: the admin listener of a running gateway, and a file that names it. These are no settings. */
  STOREGATE_ADMIN_URL: null,
  STOREGATE_PROFILE: null,
  /** And for one that speaks TLS: files with who signs its certificate, and with that of the operator. */
  STOREGATE_ADMIN_CA: null,
  STOREGATE_ADMIN_CLIENT_CERT: null,
  STOREGATE_ADMIN_CLIENT_KEY: null,
  STOREGATE_DATA: 'data',
  /** The settings file itself; this is no setting. */
  STOREGATE_CONFIG: null,
  STOREGATE_PLANS: 'plans.file',
  STOREGATE_CONTRACT: 'contract.file',
  STORE_URL: 'upstream.url',
  REDIS_URL: 'redis.url',
  REDIS_URL_FILE: null,
  REDIS_SENTINEL_PASSWORD: 'redis.sentinelPassword',
  REDIS_SENTINEL_PASSWORD_FILE: null,
  STOREGATE_WEBHOOK_URL: 'webhooks.url',
  STOREGATE_WEBHOOK_URL_FILE: null,
  STOREGATE_WEBHOOK_SECRET: 'webhooks.secret',
  STOREGATE_WEBHOOK_SECRET_FILE: null,
  STOREGATE_WEBHOOK_PREVIOUS_SECRET: 'webhooks.previousSecret',
  STOREGATE_WEBHOOK_PREVIOUS_SECRET_FILE: null,
  LOG_LEVEL: 'log.level',
  /** Those of OpenTelemetry's specification. Of two for one setting the later one here beats the other. */
  OTEL_EXPORTER_OTLP_ENDPOINT: 'tracing.endpoint',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'tracing.tracesEndpoint',
  OTEL_TRACES_EXPORTER: 'tracing.exporter',
  OTEL_SDK_DISABLED: 'tracing.exporter',
  OTEL_EXPORTER_OTLP_PROTOCOL: 'tracing.protocol',
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'tracing.protocol',
  OTEL_EXPORTER_OTLP_HEADERS: 'tracing.headers',
  OTEL_EXPORTER_OTLP_HEADERS_FILE: null,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'tracing.headers',
  OTEL_EXPORTER_OTLP_TRACES_HEADERS_FILE: null,
  OTEL_EXPORTER_OTLP_COMPRESSION: 'tracing.compression',
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'tracing.compression',
  OTEL_EXPORTER_OTLP_TIMEOUT: 'tracing.timeout',
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: 'tracing.timeout',
  OTEL_EXPORTER_OTLP_CERTIFICATE: 'tracing.certificate',
  OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: 'tracing.certificate',
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: 'tracing.clientCertificate',
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: 'tracing.clientCertificate',
  OTEL_EXPORTER_OTLP_CLIENT_KEY: 'tracing.clientKey',
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: 'tracing.clientKey',
  OTEL_TRACES_SAMPLER: 'tracing.sampler',
  OTEL_TRACES_SAMPLER_ARG: 'tracing.ratio',
  OTEL_SERVICE_NAME: 'tracing.service',
  OTEL_RESOURCE_ATTRIBUTES: 'tracing.resource',
  OTEL_BSP_MAX_QUEUE_SIZE: 'tracing.batch.queue',
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: 'tracing.batch.size',
  OTEL_BSP_SCHEDULE_DELAY: 'tracing.batch.delay',
  OTEL_BSP_EXPORT_TIMEOUT: 'tracing.batch.timeout',
} as const;

const numbers: ReadonlySet<string> = new Set([
  'workers',
  'listen.port',
  'admin.port',
  'tracing.ratio',
  'tracing.batch.queue',
  'tracing.batch.size',
]);

/** Durations that their variables give in milliseconds, without a unit. */
const milliseconds: ReadonlySet<string> = new Set(['tracing.timeout', 'tracing.batch.delay', 'tracing.batch.timeout']);

export interface EnvironmentLayer {
  /** The valid values, by setting. */
  readonly values: ReadonlyMap<string, Variable>;
  /** Settings whose variable has a wrong value. */
  readonly unsound: readonly string[];
  readonly problems: readonly Problem[];
  /** The settings file that the environment names. */
  readonly file: string | null;
}

interface Variable {
  readonly name: string;
  readonly value: unknown;
}

/** @param cwd the base of relative paths of secrets */
export function readEnvironment(env: Environment, cwd: string): EnvironmentLayer {
  const { values, unread } = given(env, cwd);
  const wrong = [...wrongValues(values), ...unread];
  for (const { setting } of wrong) values.delete(setting);
  return {
    values,
    unsound: wrong.map(({ setting }) => setting),
    problems: [...unknownVariables(env), ...wrong.map(({ problem }) => problem)],
    file: env.STOREGATE_CONFIG || null,
  };
}

interface WrongValue {
  readonly setting: string;
  readonly problem: Problem;
}

function given(env: Environment, cwd: string): { values: Map<string, Variable>; unread: readonly WrongValue[] } {
  const values = new Map<string, Variable>();
  const unread: WrongValue[] = [];
  const isOff = isMeant(DISABLED, env[DISABLED] ?? '');
  for (const [name, setting] of Object.entries(environmentVariables)) {
    if (setting === null || (isOff && name !== DISABLED && name.startsWith('OTEL_'))) continue;
    const text = env[name];
    const secret = mayBeInFile(name) ? readSecret(env, cwd, name) : null;
    if (secret?.value === null) unread.push({ setting, problem: problem(secret.name, secret.message) });
    else if (secret) values.set(setting, { name: secret.name, value: secret.value });
    else if (text && isMeant(name, text)) values.set(setting, { name, value: toValue(setting, name, text) });
  }
  return { values, unread };
}

function mayBeInFile(name: string): boolean {
  return Object.hasOwn(environmentVariables, `${name}_FILE`);
}

/** Where it is true nothing asks for the other variables of OpenTelemetry, which may be set for all programs of a cluster. */
const DISABLED = 'OTEL_SDK_DISABLED';

/** The specification knows one value of OTEL_SDK_DISABLED that says something. */
function isMeant(name: string, text: string): boolean {
  return name !== DISABLED || text.toLowerCase() === 'true';
}

/** Text that is no number stays text, so that the schema refuses it. */
function toValue(setting: string, name: string, text: string): number | string {
  if (name === DISABLED) return 'none';
  if (milliseconds.has(setting)) return /^[0-9]+$/.test(text) ? `${text}ms` : text;
  return numbers.has(setting) && /^(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$/.test(text) ? Number(text) : text;
}

/** Checks the values against the schema of the file, so that both allow the same values. */
function wrongValues(values: ReadonlyMap<string, Variable>): WrongValue[] {
  const document: Record<string, unknown> = {};
  for (const [setting, { value }] of values) putAt(document, setting, value);
  const flaws = schemaFlaws(document, 'gateway');
  return [...values].flatMap(([setting, { name }]) => {
    const flaw = flaws.find(({ pointer }) => pointer === pointerTo(setting));
    return flaw === undefined ? [] : [{ setting, problem: problem(name, flaw.message) }];
  });
}

const own = 'STOREGATE_';

/** A name without our prefix may be meant for another program, so it is told only if it is one slip away from ours. */
function unknownVariables(env: Environment): Problem[] {
  // Where the variable that is meant is set as well, this one is another.
  const unset = Object.keys(environmentVariables).filter((known) => !known.startsWith(own) && !env[known]);
  return Object.keys(env)
    .filter((name) => env[name] && !Object.hasOwn(environmentVariables, name))
    .flatMap((name) => {
      if (name.startsWith(own)) return [problem(printable(name), explain(name.slice(own.length)))];
      const meant = name === name.toUpperCase() ? suggest(name, unset, 1) : null;
      return meant === null ? [] : [problem(printable(name), `is unknown; did you mean ${meant}?`)];
    });
}

/** Kubernetes sets such variables in each pod if a Service is named `storegate`. */
const serviceLink = /^(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP))/;

function explain(rest: string): string {
  if (serviceLink.test(rest)) {
    return 'was set by Kubernetes for a Service of this name; set enableServiceLinks: false in the pod';
  }
  const known = Object.keys(environmentVariables);
  const near = suggest(
    rest,
    known.filter((name) => name.startsWith(own)).map((name) => name.slice(own.length)),
  );
  return near === null ? `is unknown; known are ${known.join(', ')}` : `is unknown; did you mean ${own}${near}?`;
}

function problem(source: string, message: string): Problem {
  return { source, place: { position: null, path: '' }, message };
}

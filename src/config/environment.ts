import { pointerTo } from './problems/pointers.ts';
import type { Problem } from './problems/problems.ts';
import { printable } from './problems/quote.ts';
import { suggest } from './problems/suggest.ts';
import { schemaFlaws } from './schema/flaws.ts';
import { putAt } from './settings.ts';

/** Like `process.env`; an empty variable counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Every environment variable of the gateway, and the setting that it beats. The names never change. */
export const environmentVariables = {
  STOREGATE_WORKERS: 'workers',
  STOREGATE_HOST: 'listen.host',
  STOREGATE_PORT: 'listen.port',
  STOREGATE_ADMIN_HOST: 'admin.host',
  STOREGATE_ADMIN_PORT: 'admin.port',
  STOREGATE_ADMIN_TOKEN: 'admin.token',
  /** For commands: the admin listener of a running gateway, and a file that names it. These are no settings. */
  STOREGATE_ADMIN_URL: null,
  STOREGATE_PROFILE: null,
  STOREGATE_DATA: 'data',
  /** The settings file itself; this is no setting. */
  STOREGATE_CONFIG: null,
  STOREGATE_PLANS: 'plans.file',
  STOREGATE_CONTRACT: 'contract.file',
  STORE_URL: 'upstream.url',
  REDIS_URL: 'redis.url',
  REDIS_SENTINEL_PASSWORD: 'redis.sentinelPassword',
  LOG_LEVEL: 'log.level',
} as const;

const numbers: ReadonlySet<string> = new Set(['workers', 'listen.port', 'admin.port']);

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

export function readEnvironment(env: Environment): EnvironmentLayer {
  const values = given(env);
  const wrong = wrongValues(values);
  for (const { setting } of wrong) values.delete(setting);
  return {
    values,
    unsound: wrong.map(({ setting }) => setting),
    problems: [...unknownVariables(env), ...wrong.map(({ problem }) => problem)],
    file: env.STOREGATE_CONFIG || null,
  };
}

function given(env: Environment): Map<string, Variable> {
  const values = new Map<string, Variable>();
  for (const [name, setting] of Object.entries(environmentVariables)) {
    const text = env[name];
    if (setting !== null && text) values.set(setting, { name, value: numbers.has(setting) ? toNumber(text) : text });
  }
  return values;
}

/** Text that is no number stays text, so that the schema refuses it. */
function toNumber(text: string): number | string {
  return /^(0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : text;
}

/** Checks the values against the schema of the file, so that both allow the same values. */
function wrongValues(values: ReadonlyMap<string, Variable>): { setting: string; problem: Problem }[] {
  const document: Record<string, unknown> = {};
  for (const [setting, { value }] of values) putAt(document, setting, value);
  const flaws = schemaFlaws(document, 'gateway');
  return [...values].flatMap(([setting, { name }]) => {
    const flaw = flaws.find(({ pointer }) => pointer === pointerTo(setting));
    return flaw === undefined ? [] : [{ setting, problem: problem(name, flaw.message) }];
  });
}

const own = 'STOREGATE_';

function unknownVariables(env: Environment): Problem[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(own) && !Object.hasOwn(environmentVariables, name) && env[name])
    .map((name) => problem(printable(name), explain(name.slice(own.length))));
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

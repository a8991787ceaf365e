import { suggest } from '../common/suggest.ts';
import { pointerTo } from './problems/pointers.ts';
import { type Problem, problemOf } from './problems/problems.ts';
import { printable } from './problems/quote.ts';
import { schemaErrors } from './schema/errors.ts';
import type { Schema } from './schema/schema.ts';
import { readSecret } from './secret-file.ts';
import { putAt, settingsOf } from './settings.ts';

/** An empty variable counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Not settings: the settings file, how commands reach a running gateway, and packages/http1/src/internals.ts. */
const UNMAPPED_VARIABLES = [
  'STOREGATE_CONFIG',
  'STOREGATE_ADMIN_URL',
  'STOREGATE_PROFILE',
  'STOREGATE_ADMIN_CA',
  'STOREGATE_ADMIN_CLIENT_CERT',
  'STOREGATE_ADMIN_CLIENT_KEY',
  'STOREGATE_PORTABLE',
];

/** With the setting that each variable overrides. The names never change. */
export function environmentVariables(): ReadonlyMap<string, string | null> {
  const variables = new Map<string, string | null>();
  for (const [setting, schema] of settingsOf('gateway')) {
    for (const name of variablesOf(schema)) {
      variables.set(name, setting);
      if (mayBeInFile(schema)) variables.set(`${name}_FILE`, null);
    }
  }
  for (const name of UNMAPPED_VARIABLES) variables.set(name, null);
  return variables;
}

export const variablesOf = (schema: Schema | undefined): readonly string[] =>
  [schema?.['x-env'] ?? []].flat();

/** The first of several. */
export function variableOf(setting: string): string | undefined {
  return variablesOf(settingsOf('gateway').get(setting))[0];
}

/** A path is a secret only by mistake, such as a key in its place. */
export const mayBeInFile = (schema: Schema): boolean =>
  schema['x-secret'] !== undefined && schema['x-unit'] !== 'path';

interface Variable {
  readonly name: string;
  readonly value: unknown;
}

/** `cwd`: the base of relative paths of secrets. */
export function readEnvironment(env: Environment, cwd: string) {
  const { values, unread } = given(env, cwd);
  const wrong = [...wrongValues(values), ...unread];
  for (const { setting } of wrong) values.delete(setting);
  return {
    values,
    unsound: wrong.map(({ setting }) => setting),
    problems: [
      ...unknownVariables(env),
      ...wrong.map(({ problem }) => problem),
    ],
    file: env.STOREGATE_CONFIG || null,
  };
}

export type EnvironmentLayer = ReturnType<typeof readEnvironment>;

interface WrongValue {
  readonly setting: string;
  readonly problem: Problem;
}

function given(
  env: Environment,
  cwd: string,
): { values: Map<string, Variable>; unread: readonly WrongValue[] } {
  const values = new Map<string, Variable>();
  const unread: WrongValue[] = [];
  const isOff = env[DISABLED]?.toLowerCase() === 'true';
  for (const [setting, schema] of settingsOf('gateway')) {
    for (const name of variablesOf(schema)) {
      if (name === DISABLED ? !isOff : isOff && name.startsWith(OPEN_TELEMETRY))
        continue;
      const text = env[name];
      const secret = mayBeInFile(schema) ? readSecret(env, cwd, name) : null;
      if (secret?.value === null)
        unread.push({
          setting,
          problem: problemOf(secret.name, secret.message),
        });
      else if (secret)
        values.set(setting, { name: secret.name, value: secret.value });
      else if (text)
        values.set(setting, { name, value: toValue(schema, name, text) });
    }
  }
  return { values, unread };
}

/** Durations in milliseconds, without a unit, by its specification. */
const OPEN_TELEMETRY = 'OTEL_';

/**
 * If `true`, the other variables of OpenTelemetry are ignored; by its specification, other values
 * have no effect.
 */
const DISABLED = 'OTEL_SDK_DISABLED';

/** Text that is not a number stays text, so that the schema refuses it. */
function toValue(
  { type, 'x-unit': unit }: Schema,
  name: string,
  text: string,
): number | string {
  if (name === DISABLED) return 'none';
  if (unit === 'duration' && name.startsWith(OPEN_TELEMETRY))
    return /^[0-9]+$/.test(text) ? `${text}ms` : text;
  const mayBeNumber = [type]
    .flat()
    .some((one) => one === 'integer' || one === 'number');
  return mayBeNumber && /^(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$/.test(text)
    ? Number(text)
    : text;
}

/** The schema of the file applies, so both allow the same values. */
function wrongValues(values: ReadonlyMap<string, Variable>): WrongValue[] {
  const document: Record<string, unknown> = {};
  for (const [setting, { value }] of values) putAt(document, setting, value);
  const flaws = schemaErrors(document, 'gateway');
  return [...values].flatMap(([setting, { name }]) => {
    const flaw = flaws.find(({ pointer }) => pointer === pointerTo(setting));
    return flaw === undefined
      ? []
      : [{ setting, problem: problemOf(name, flaw.message) }];
  });
}

const own = 'STOREGATE_';

/**
 * A name without our prefix may belong to another program, so only near misspellings are reported.
 */
function unknownVariables(env: Environment): Problem[] {
  const variables = environmentVariables();
  const names = [...variables.keys()];
  // If the intended variable is set as well, this one is another.
  const unset = names.filter((name) => !name.startsWith(own) && !env[name]);
  return Object.keys(env)
    .filter((name) => env[name] && !variables.has(name))
    .flatMap((name) => {
      if (name.startsWith(own))
        return [
          problemOf(printable(name), explain(name.slice(own.length), names)),
        ];
      const meant =
        name === name.toUpperCase() ? suggest(name, unset, 1) : null;
      return meant === null
        ? []
        : [problemOf(printable(name), `is unknown; did you mean ${meant}?`)];
    });
}

/** Kubernetes sets such variables in each pod if a Service is named `storegate`. */
const serviceLink = /^(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP))/;

function explain(rest: string, names: readonly string[]): string {
  if (serviceLink.test(rest)) {
    return 'was set by Kubernetes for a Service of this name; set enableServiceLinks: false in the pod';
  }
  const near = suggest(
    rest,
    names
      .filter((name) => name.startsWith(own))
      .map((name) => name.slice(own.length)),
  );
  return near === null
    ? `is unknown; known are ${names.join(', ')}`
    : `is unknown; did you mean ${own}${near}?`;
}

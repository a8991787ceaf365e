import type { Position } from './problems/problems.ts';
import { flatten, isObject, type Schema, type SchemaName, schemaOf } from './schema/schema.ts';

/** The origin of a value. */
export type Origin =
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'file'; readonly file: string; readonly position: Position | null }
  | { readonly kind: 'default' };

/** One setting as written, before units become numbers and paths absolute. */
export interface Setting {
  readonly value: unknown;
  readonly origin: Origin;
}

/** Every setting by its dotted name, in the order of the schema. */
export type Settings = ReadonlyMap<string, Setting>;

const known = new Map<SchemaName, ReadonlyMap<string, Schema>>();

/** Every setting of a schema by its dotted name: every property without settings below it. `x-restart` of a section holds for all in it. */
export function settingsOf(name: SchemaName): ReadonlyMap<string, Schema> {
  const settings = known.get(name) ?? new Map(settingsIn(schemaOf(name), schemaOf(name), ''));
  known.set(name, settings);
  return settings;
}

function* settingsIn(section: Schema, root: Schema, prefix: string): Generator<[name: string, schema: Schema]> {
  for (const [key, reference] of Object.entries(section.properties ?? {})) {
    const inner = { 'x-restart': section['x-restart'], ...flatten(reference, root) };
    if (inner.properties === undefined) yield [prefix + key, inner];
    else yield* settingsIn(inner, root, `${prefix}${key}.`);
  }
}

/** The schema of a setting of gateway.yaml. */
export function settingSchema(name: string): Schema {
  const schema = settingsOf('gateway').get(name);
  if (schema === undefined) throw new TypeError(`there is no setting ${name}`);
  return schema;
}

/** The value of a setting as written. The schema has checked it, so the caller knows its type. */
export function settingValue<T>(settings: Settings, name: string): T {
  const setting = settings.get(name);
  if (setting === undefined) throw new TypeError(`there is no setting ${name}`);
  return setting.value as T;
}

/** The value of a setting in a document; `undefined` if it is left out. An empty section sets nothing. */
export function valueAt(document: unknown, name: string): unknown {
  return name.split('.').reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), document);
}

/** Puts the value of a setting into a document, in sections that it makes if they are missing. */
export function putAt(document: Record<string, unknown>, name: string, value: unknown): void {
  const [key = '', ...rest] = name.split('.');
  if (rest.length === 0) {
    document[key] = value;
    return;
  }
  const section = (document[key] ?? {}) as Record<string, unknown>;
  document[key] = section;
  putAt(section, rest.join('.'), value);
}

/** The settings as one document, with the sections of gateway.yaml. */
export function documentOf(settings: Settings): Readonly<Record<string, unknown>> {
  const document: Record<string, unknown> = {};
  for (const [name, { value }] of settings) putAt(document, name, value);
  return document;
}

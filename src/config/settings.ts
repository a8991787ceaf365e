import { isObject } from '../common/shapes.ts';
import type { Position } from './problems/problems.ts';
import {
  flatten,
  type Schema,
  type SchemaName,
  schemaOf,
} from './schema/schema.ts';

export type Origin =
  | { readonly kind: 'environment'; readonly name: string }
  | {
      readonly kind: 'file';
      readonly file: string;
      readonly position: Position | null;
    }
  | { readonly kind: 'default' };

/** Before units become numbers and paths absolute. */
export interface Setting {
  readonly value: unknown;
  /** Of files that it names. Changes are noticed, but it is never shown. */
  readonly contents?: unknown;
  readonly origin: Origin;
}

/** By dotted name, in the order of the schema. */
export type Settings = ReadonlyMap<string, Setting>;

const cache = new Map<SchemaName, ReadonlyMap<string, Schema>>();

/** `x-restart` of a section applies to all settings in it. */
export function settingsOf(name: SchemaName): ReadonlyMap<string, Schema> {
  const settings =
    cache.get(name) ?? new Map(settingsIn(schemaOf(name), schemaOf(name), ''));
  cache.set(name, settings);
  return settings;
}

function* settingsIn(
  section: Schema,
  root: Schema,
  prefix: string,
): Generator<[name: string, schema: Schema]> {
  for (const [key, reference] of Object.entries(section.properties ?? {})) {
    const inner = {
      'x-restart': section['x-restart'],
      ...flatten(reference, root),
    };
    if (inner.properties === undefined) yield [prefix + key, inner];
    else yield* settingsIn(inner, root, `${prefix}${key}.`);
  }
}

export function entryOf<T>(settings: ReadonlyMap<string, T>, name: string): T {
  const entry = settings.get(name);
  if (entry === undefined) throw new TypeError(`unknown setting ${name}`);
  return entry;
}

export const settingSchema = (name: string): Schema =>
  entryOf(settingsOf('gateway'), name);

/** The schema has checked it, so the caller knows its type. */
export const settingValue = <T>(settings: Settings, name: string): T =>
  entryOf(settings, name).value as T;

/** `undefined` if left out. An empty section sets nothing. */
export function valueAt(document: unknown, name: string): unknown {
  return name
    .split('.')
    .reduce<unknown>(
      (value, key) => (isObject(value) ? value[key] : undefined),
      document,
    );
}

export function putAt(
  document: Record<string, unknown>,
  name: string,
  value: unknown,
): void {
  const keys = name.split('.');
  const last = keys.pop()!;
  let section = document;
  for (const key of keys) {
    section[key] ??= {};
    section = section[key] as Record<string, unknown>;
  }
  section[last] = value;
}

export function documentOf(
  settings: Settings,
): Readonly<Record<string, unknown>> {
  const document: Record<string, unknown> = {};
  for (const [name, { value }] of settings) putAt(document, name, value);
  return document;
}

import type { Position } from './problems/problems.ts';
import { flatten, type Schema } from './schema/schema.ts';

/** The origin of a value. */
export type Origin =
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'file'; readonly file: string; readonly position: Position | null }
  | { readonly kind: 'default' };

/** One setting as written, before units become numbers and paths absolute. */
export interface Setting {
  readonly value: unknown;
  readonly origin: Origin;
  readonly secret: Schema['x-secret'];
}

/** Every setting by its dotted name, in the order of the schema. */
export type Settings = ReadonlyMap<string, Setting>;

/** Yields every setting of a schema: every property without settings below it. `x-restart` of a section holds for all in it. */
export function* settingsOf(section: Schema, root = section, prefix = ''): Generator<[name: string, schema: Schema]> {
  for (const [key, reference] of Object.entries(section.properties ?? {})) {
    const inner = { 'x-restart': section['x-restart'], ...flatten(reference, root) };
    if (inner.properties === undefined) yield [prefix + key, inner];
    else yield* settingsOf(inner, root, `${prefix}${key}.`);
  }
}

/** The value of a setting in a document; `undefined` if it is left out. An empty section sets nothing. */
export function valueAt(document: unknown, name: string): unknown {
  return name.split('.').reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), document);
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Typed access to settings the schema has already checked: a wrong type here is a bug, not a mistake of the user. */
export class SettingsReader {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  origin(name: string): Origin {
    return this.#setting(name).origin;
  }

  text(name: string): string {
    return this.#typed<string>(name, 'string');
  }

  textOrNull(name: string): string | null {
    return this.#setting(name).value === null ? null : this.text(name);
  }

  number(name: string): number {
    return this.#typed<number>(name, 'number');
  }

  flag(name: string): boolean {
    return this.#typed<boolean>(name, 'boolean');
  }

  list<T>(name: string): readonly T[] {
    return this.#typed<readonly T[]>(name, 'object');
  }

  map(name: string): Readonly<Record<string, unknown>> {
    return (this.#setting(name).value ?? {}) as Readonly<Record<string, unknown>>;
  }

  /** The same with other settings in the place of those for which `other` has one. */
  with(other: (name: string, setting: Setting) => Setting | null): SettingsReader {
    return new SettingsReader(
      new Map([...this.#settings].map(([name, setting]) => [name, other(name, setting) ?? setting])),
    );
  }

  /** The value as written, for units. */
  raw(name: string): string | number {
    const { value } = this.#setting(name);
    return typeof value === 'number' ? value : this.text(name);
  }

  #typed<T>(name: string, type: 'string' | 'number' | 'boolean' | 'object'): T {
    const { value } = this.#setting(name);
    if (typeof value !== type) throw new TypeError(`the setting ${name} is no ${type}`);
    return value as T;
  }

  #setting(name: string): Setting {
    const setting = this.#settings.get(name);
    if (setting === undefined) throw new TypeError(`there is no setting ${name}`);
    return setting;
  }
}

import { resolve } from 'node:path';
import type { AddressList } from '../common/address-lists.ts';
import type { KeyHeaders } from '../common/key-headers.ts';
import { isObject } from '../common/shapes.ts';
import type { AddressEntry } from './address-lists.ts';
import { isFile } from './contract/place.ts';
import type { FieldValue } from './header-rules.ts';
import { readPairs } from './schema/formats.ts';
import { flatten, type Schema, schemaOf } from './schema/schema.ts';
import { parseDuration, parseSize } from './units.ts';

export interface Surroundings {
  /** The base of relative paths. */
  readonly cwd: string;
  readonly listsIn: (
    entries: readonly AddressEntry[],
  ) => readonly AddressList[];
  /** The contents of a file that a header rule names. */
  readonly textOf: (file: string) => string;
}

/** By the `x-unit` of the schema, for valid values. */
const conversions = {
  duration: (text: string) => parseDuration(text)!,
  size: (size: string | number) => parseSize(size)!,
  path: (path: string, { cwd }: Surroundings) => resolve(cwd, path),
  contract: (place: string, { cwd }: Surroundings) =>
    isFile(place) ? resolve(cwd, place) : place,
  url: (url: string) => new URL(url).href,
  baseUrl,
  statuses: (statuses: string | number): StatusRange => {
    const [from = 0, to = from] = String(statuses).split('-').map(Number);
    return { from, to };
  },
  pairs: (text: string) => readPairs(text)!,
  keyHeaders: (names: readonly string[]): KeyHeaders => {
    const headers = names.filter(
      (name) => name.toLowerCase() !== 'authorization',
    );
    return { headers, bearer: headers.length < names.length };
  },
  addresses: (entries: readonly AddressEntry[], { listsIn }: Surroundings) =>
    listsIn(entries),
  fieldValue: (value: FieldValue, { textOf }: Surroundings): string =>
    typeof value === 'string' ? value : textOf(value.file),
};

type UnitName = keyof typeof conversions;

export type Unit<Name extends UnitName> = ReturnType<
  (typeof conversions)[Name]
>;

/** Inclusive. */
export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

/** With lower-case host and without default port, ready for a path after it. */
export function baseUrl(url: string): string {
  return new URL(url).href.replace(/\/+$/, '');
}

/** For values without paths and files. */
export const NO_SURROUNDINGS: Surroundings = {
  cwd: '',
  listsIn: () => [],
  textOf: () => '',
};

/** With defaults. `null`: left out, without a default. */
export function converted(
  value: unknown,
  reference: Schema,
  around: Surroundings,
  root = schemaOf('gateway'),
): unknown {
  const schema = flatten(reference, root);
  const {
    additionalProperties: entries,
    default: usual = null,
    items,
    properties,
    'x-unit': unit,
  } = schema;
  const given = value === undefined ? usual : value;
  if (unit !== undefined && given !== null) {
    return (
      conversions[unit as UnitName] as (
        value: unknown,
        around: Surroundings,
      ) => unknown
    )(given, around);
  }
  if (properties !== undefined) {
    const section = isObject(given) ? given : {};
    return mapped(properties, (inner, key) =>
      converted(section[key], inner, around, root),
    );
  }
  if (isObject(given))
    return mapped(given, (entry) =>
      converted(entry, entries as Schema, around, root),
    );
  return Array.isArray(given)
    ? given.map((entry) => converted(entry, items!, around, root))
    : given;
}

export function mapped<A, B>(
  entries: Readonly<Record<string, A>>,
  map: (value: A, key: string) => B,
): Record<string, B> {
  return Object.fromEntries(
    Object.entries(entries).map(([key, value]) => [key, map(value, key)]),
  );
}

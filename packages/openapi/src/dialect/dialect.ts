import type { Ajv, Options } from 'ajv';
import type { Json } from '../document/source.ts';
import type { Grammar } from './grammar.ts';
import type { KeywordValues } from './keyword-values.ts';

/** `types` excludes null, and is `null` if the schema names no types. */
export interface Types {
  readonly types: readonly string[] | null;
  readonly nullable: boolean;
}

export interface Dialect {
  readonly name: string;
  readonly grammar: Grammar;
  readonly identifiers: boolean;
  readonly optional: ReadonlySet<'responses'>;
  readonly withoutPaths: string;
  isReference(node: Json): boolean;

  readonly keywordValues: Readonly<Record<string, KeywordValues>>;
  /** The keywords must be valid, here and for the functions below. */
  typesOf(said: Json): Types;
  limitsOf(said: Json): Json;
  isBinary(schema: Json): boolean;
  isEncoded(schema: Json): boolean;
  /** The keywords may be invalid. */
  shownTypes(schema: Json): ReadonlySet<string> | null;
  valuesIn(schema: Json): readonly unknown[] | null;
  /** They are checked, but do not convert text to a number or a list. */
  readonly unread: readonly string[];
  readonly textual: readonly string[];
  notes(schema: Json, said: Json): readonly (readonly [keyword: string, message: string])[];
  /** The schema, or an empty object in OpenAPI 3.0, which has `not` and `items` only. */
  applicators(schema: Json): Json;
  /** For the same value; without `allOf`, `oneOf` and `anyOf`. */
  inPlace(schema: Json): readonly unknown[];
  createAjv(options: Options): Ajv;
}

import type { Ajv, Options } from 'ajv';
import type { Json } from '../document/source.ts';
import type { Grammar, Sections } from './grammar.ts';
import type { KeywordValues } from './keyword-values.ts';

/** The types of a schema. `types` excludes null, and is `null` if the schema names no types. */
export interface Types {
  readonly types: readonly string[] | null;
  readonly nullable: boolean;
}

/** Subschemas that OpenAPI 3.0 does not have. */
export interface Applicators {
  readonly if?: unknown;
  readonly then?: unknown;
  readonly else?: unknown;
  readonly prefixItems?: unknown;
  readonly contains?: unknown;
  readonly minContains?: unknown;
  readonly maxContains?: unknown;
  readonly patternProperties?: unknown;
  readonly propertyNames?: unknown;
  readonly dependentSchemas?: unknown;
  readonly unevaluatedItems?: unknown;
  readonly unevaluatedProperties?: unknown;
}

/** The differences between OpenAPI versions. */
export interface Dialect {
  /** Such as `OpenAPI 3.0`. */
  readonly name: string;
  readonly grammar: Grammar;
  readonly sections: Sections;
  /** Whether schemas may have `$id` and anchors. */
  readonly identifiers: boolean;
  readonly optional: ReadonlySet<'responses'>;
  /** The error message for a document without paths. */
  readonly withoutPaths: string;
  /** Whether an object is only a reference, so that other fields beside `$ref` are ignored. */
  isReference(node: Json): boolean;

  readonly keywordValues: Readonly<Record<string, KeywordValues>>;
  /** The keywords must be valid, here and for the functions below. */
  typesOf(said: Json): Types;
  limitsOf(said: Json): Json;
  /** Whether a string may be bytes that are not text. */
  isBinary(schema: Json): boolean;
  /** Whether a string is encoded bytes, for example Base64. */
  isEncoded(schema: Json): boolean;
  /** The types of a schema whose keywords may be invalid; `null` if it names no types. */
  shownTypes(schema: Json): ReadonlySet<string> | null;
  valuesIn(schema: Json): readonly unknown[] | null;
  /** Keywords that are checked, but are not used to read text (a parameter, a form, XML) as a number or a list. */
  readonly unread: readonly string[];
  /** The keywords that apply only to text. */
  readonly textual: readonly string[];
  /** Notes about keywords that have no effect. */
  notes(schema: Json, said: Json): readonly (readonly [keyword: string, message: string])[];
  applicators(schema: Json): Applicators;
  /** The subschemas for the same value, other than `allOf`, `oneOf` and `anyOf`. */
  inPlace(schema: Json): readonly unknown[];
  createAjv(options: Options): Ajv;
}

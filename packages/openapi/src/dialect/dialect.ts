import type { Ajv, Options } from 'ajv';
import type { Json } from '../document/source.ts';
import type { Grammar, Sections } from './grammar.ts';
import type { KeywordValues } from './keyword-values.ts';

/** The types that a schema names; `types` is without null, and `null` if it names none. */
export interface Types {
  readonly types: readonly string[] | null;
  readonly nullable: boolean;
}

/** Schemas in a schema that OpenAPI 3.0 does not have. */
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

/** All that differs between the versions of OpenAPI: their fields, their references, and their language of schemas. */
export interface Dialect {
  /** Such as `OpenAPI 3.0`. */
  readonly name: string;
  readonly grammar: Grammar;
  readonly sections: Sections;
  /** Whether schemas may say `$id` and anchors, by which references find them. */
  readonly identifiers: boolean;
  /** What an operation may lack. */
  readonly optional: ReadonlySet<'responses'>;
  /** What is wrong with a document without paths. */
  readonly withoutPaths: string;
  /** Whether an object is a reference and no more: what stands beside `$ref` then means nothing. */
  isReference(node: Json): boolean;

  /** The valid values of keywords. */
  readonly keywordValues: Readonly<Record<string, KeywordValues>>;
  /** The types of a schema. Its keywords are sound here, and for the functions below. */
  typesOf(said: Json): Types;
  /** The limits of numbers, in keywords of the compiler. */
  limitsOf(said: Json): Json;
  /** Whether a string may be bytes that are no text. */
  isBinary(schema: Json): boolean;
  /** Whether a string is bytes in another form, such as Base64. */
  isEncoded(schema: Json): boolean;
  /** What a schema of the document, whose keywords may be unsound, says of types; `null` if nothing. */
  shownTypes(schema: Json): ReadonlySet<string> | null;
  /** The values that a schema lists. */
  valuesIn(schema: Json): readonly unknown[] | null;
  /** Keywords that are checked, but by which no text (a parameter, a form, XML) is read as a number or a list. */
  readonly unread: readonly string[];
  /** The keywords that only text can fit. */
  readonly textual: readonly string[];
  /** Notes about keywords that change nothing. */
  notes(schema: Json, said: Json): readonly (readonly [keyword: string, message: string])[];
  /** The keywords that only this dialect has. */
  applicators(schema: Json): Applicators;
  /** The schemas that a schema applies to the same value besides `allOf`, `oneOf` and `anyOf`. */
  inPlace(schema: Json): readonly unknown[];
  createAjv(options: Options): Ajv;
}

import type { Document } from '../document/document.ts';
import type { Json } from '../document/source.ts';
import { toJson } from '../exact-json.ts';
import { type Limit, limitOf } from '../faults.ts';
import type { Findings } from '../findings.ts';
import { STRING_FORMATS } from '../formats.ts';
import { RANGES } from '../numbers.ts';
import {
  BoundlessPattern,
  compilePattern,
  type Pattern,
  PatternError,
} from '../patterns/pattern.ts';
import type { Allowed, Matched, Types } from './keywords.ts';
import { canonical } from './values.ts';

const LONGEST_LIST = 200;

/** Members may be undefined. */
export function assertionsOf(document: Document, schema: Json): Json {
  const { dialect, findings, reading } = document;
  const valid = validIn(schema, document);
  const { types, nullable } = dialect.typesOf(valid);
  const ofText =
    types === null || (types.length === 1 && types[0] === 'string');
  const binary = ofText && dialect.isBinary(schema);
  for (const [keyword, message] of dialect.notes(schema, valid))
    findings.note(schema, keyword, message);
  if (binary && valid.pattern !== undefined) {
    findings.note(
      schema,
      'pattern',
      'is enforced on text only, not on bytes (format: binary)',
    );
  }
  return {
    ...(types !== null &&
      (binary
        ? { content: { nullable } }
        : typesOf(types, nullable, reading.integers !== 'any'))),
    ...dialect.limitsOf(valid),
    multipleOf: valid.multipleOf,
    ...sizesOf(valid),
    uniqueItems: valid.uniqueItems === true ? true : undefined,
    ...(typeof valid.pattern === 'string' &&
      matchesOf(schema, valid.pattern, document)),
    ...(typeof valid.format === 'string' &&
      formatOf(schema, types, valid.format, findings)),
    enum: Array.isArray(valid.enum) ? allowed(valid.enum) : undefined,
    const: valid.const === undefined ? undefined : allowed([valid.const]),
    dependentRequired: valid.dependentRequired,
  };
}

function validIn(schema: Json, { dialect, findings }: Document): Json {
  const valid: Json = {};
  for (const [keyword, [complaint, test]] of Object.entries(
    dialect.keywordValues,
  )) {
    if (!Object.hasOwn(schema, keyword)) continue;
    if (test(schema[keyword])) valid[keyword] = schema[keyword];
    else findings.problem(schema, keyword, complaint);
  }
  return valid;
}

/** `null` if it cannot be checked, which is reported. */
export function patternAt(
  holder: Json,
  key: string,
  source: string,
  { findings, reading }: Document,
): Pattern | null {
  try {
    return compilePattern(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const message = `the pattern ${error.message}`;
    if (error instanceof BoundlessPattern && reading.onUnsupported === 'omit') {
      findings.note(holder, key, `${message}, so it is not checked`);
    } else {
      findings.problem(holder, key, message);
    }
    return null;
  }
}

function matchesOf(schema: Json, source: string, document: Document): Json {
  const pattern = patternAt(schema, 'pattern', source, document);
  return pattern
    ? {
        pattern: {
          source,
          native: pattern instanceof RegExp ? pattern : null,
        } satisfies Matched,
      }
    : {};
}

function formatOf(
  schema: Json,
  types: readonly string[] | null,
  format: string,
  findings: Findings,
): Json {
  const numeric =
    types === null || types.includes('integer') || types.includes('number');
  if (Object.hasOwn(RANGES, format) && numeric) return { width: format };
  if (
    Object.hasOwn(STRING_FORMATS, format) &&
    (types?.includes('string') ?? true)
  )
    return { format };
  const ofType = types?.length ? ` of type ${types.join(' or ')}` : '';
  findings.note(
    schema,
    'format',
    `format ${format}${ofType} is not known: it is not enforced`,
  );
  return {};
}

const SIZES = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
];

function typesOf(
  types: readonly string[],
  nullable: boolean,
  plain: boolean,
): Json {
  const all = nullable ? [...types, 'null'] : types;
  if (types.includes('integer') || types.includes('number'))
    return { kinds: { types: all, plain } satisfies Types };
  // Ajv sees bytes as an object.
  return {
    type: all.length === 1 ? all[0] : all,
    ...(all.includes('object') && { solid: all }),
  };
}

function sizesOf(valid: Json): Json {
  return Object.fromEntries(
    SIZES.filter((keyword) => keyword in valid).map((keyword) => [
      keyword,
      Number(valid[keyword]),
    ]),
  );
}

export function allowed(values: readonly unknown[]): Allowed {
  const list = values.map(textOf).join(', ');
  const isLong = list.length > LONGEST_LIST;
  const many =
    isLong || values.length === 0
      ? `one of the ${values.length} values that the contract lists`
      : `one of: ${list}`;
  const one = isLong ? 'the value that the contract has' : list;
  return {
    values: new Set(values.map(canonical)),
    composite: values.some(
      (value) => typeof value !== 'number' && canonical(value) !== value,
    ),
    text: values.length === 1 ? one : many,
    limit:
      isLong || values.some((value) => !isPlain(value))
        ? undefined
        : values.map(plain),
  };
}

const isPlain = (value: unknown) => typeof value !== 'object' || value === null;

const plain = (value: unknown) =>
  typeof value === 'bigint' || typeof value === 'number'
    ? limitOf(value)
    : (value as Limit);

function textOf(value: unknown): string {
  if (typeof value === 'string') return value === '' ? "''" : value;
  return toJson(value);
}

import { isObject, type Json } from '../document/source.ts';
import { type Fault, faultsBy, NONE, type ValueFault } from '../faults.ts';
import { readingOf, readJsonInSteps } from '../json.ts';
import type { Reading } from '../parameters/reading.ts';
import { noteUnread } from '../parameters/shape.ts';
import type { Direction } from '../schema/directions.ts';
import type { Check, Schemas } from '../schema/schemas.ts';
import { createFormCheck } from './form.ts';
import { createMultipartCheck } from './multipart/multipart.ts';
import { type CheckBody, createReader, type Syntax } from './reading.ts';

export interface MediaRule {
  /** May be a range such as `application/*`. */
  readonly type: string;
  /** `bytes` is not empty. */
  check(bytes: Uint8Array): readonly Fault[];
  /** `check` in steps, which only JSON has; the longest is the check of the schema. */
  steps?(bytes: Uint8Array): Steps;
}

type Steps = Generator<void, readonly Fault[], void>;

export type RuleFor = (contentType: string) => MediaRule;

const UNTYPED: ReadonlySet<Syntax> = new Set(['form', 'multipart', 'xml']);

/** Returns a sentence if bodies cannot be checked. */
export function ruleFor(
  schemas: Schemas,
  content: Json,
  type: string,
  syntax: Syntax,
  direction: Direction,
): RuleFor | string {
  const { document } = schemas;
  const media = document.object(content[type]) ?? {};
  const schema = isObject(media.schema) ? media.schema : null;
  const check = schema ? schemas.check(schema, direction) : () => NONE;
  if (schema && UNTYPED.has(syntax)) noteUnread(document, schema);
  const checkBody = checkOf(schemas, media, schema, syntax, check);
  if (typeof checkBody === 'string') return checkBody;
  return (contentType) => ({
    type,
    check: (bytes) => inBody((body) => checkBody(body, contentType), bytes),
    ...(syntax === 'json' && { steps: (bytes) => jsonSteps(bytes, document.reading.maxDepth, check) }),
  });
}

function checkOf(schemas: Schemas, media: Json, schema: Json | null, syntax: Syntax, check: Check): CheckBody | string {
  if (syntax === 'form') return createFormCheck(schemas.document, media, check);
  if (syntax === 'multipart') return createMultipartCheck(schemas, media, check);
  const read = createReader(schemas.document, schema, syntax);
  return typeof read === 'string' ? read : (bytes) => checkReading(read(bytes), check);
}

const checkReading = (reading: Reading, check: Check): readonly ValueFault[] => check(reading.value, reading);

function* jsonSteps(bytes: Uint8Array, maxDepth: number | undefined, check: Check): Steps {
  const result = yield* readJsonInSteps(bytes, maxDepth);
  return inBody((read) => checkReading(readingOf(read, true), check), result);
}

function inBody<T>(check: (body: T) => readonly ValueFault[], body: T): readonly Fault[] {
  const faults = faultsBy(check, body);
  return faults.length === 0 ? NONE : faults.map((fault) => ({ in: 'body', ...fault }));
}

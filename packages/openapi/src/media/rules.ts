import type { Document } from '../document/document.ts';
import { isObject, type Json } from '../document/source.ts';
import type { Fault } from '../fault.ts';
import { faultBelow, NONE, type ValueFault } from '../faults.ts';
import type { Findings } from '../findings.ts';
import { readingOf, readJsonInSteps } from '../json.ts';
import { Parameters } from '../parameters/parameter.ts';
import type { Reading } from '../parameters/reading.ts';
import { noteUnread } from '../parameters/shape.ts';
import type { Direction } from '../schema/directions.ts';
import type { Check, Schemas } from '../schema/schemas.ts';
import { createFormCheck } from './form.ts';
import { createMultipartCheck } from './multipart/multipart.ts';
import { type CheckBody, createReader, type Syntax } from './reading.ts';
import { prepareXmlReader } from './xml/xml.ts';

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

export class MediaRules {
  readonly #document: Document;
  readonly #schemas: Schemas;
  readonly #findings: Findings;
  readonly #parameters: Parameters;

  constructor(document: Document, schemas: Schemas, findings: Findings) {
    this.#document = document;
    this.#schemas = schemas;
    this.#findings = findings;
    this.#parameters = new Parameters(document, schemas, findings);
  }

  /** Returns a sentence if bodies cannot be checked. */
  rule(content: Json, type: string, syntax: Syntax, direction: Direction): RuleFor | string {
    const document = this.#document;
    const media = document.object(content[type]) ?? {};
    const schema = isObject(media.schema) ? media.schema : null;
    const check = schema ? this.#schemas.check(schema, direction) : () => NONE;
    if (schema && UNTYPED.has(syntax)) noteUnread(document, schema, this.#findings);
    const checkBody = this.#checkOf(media, schema, syntax, check);
    if (typeof checkBody === 'string') return checkBody;
    return (contentType) => ({
      type,
      check: (bytes) => inBody(() => checkBody(bytes, contentType)),
      ...(syntax === 'json' && { steps: (bytes) => jsonSteps(bytes, document, check) }),
    });
  }

  *prepare(content: Json, type: string, syntax: Syntax): Generator<void, void, void> {
    const schema = this.#document.object(content[type])?.schema;
    if (syntax === 'xml' && isObject(schema)) yield* prepareXmlReader(this.#document, schema);
  }

  #checkOf(media: Json, schema: Json | null, syntax: Syntax, check: Check): CheckBody | string {
    const document = this.#document;
    if (syntax === 'form') return createFormCheck(document, media, check);
    if (syntax === 'multipart') {
      return createMultipartCheck({ document, parameters: this.#parameters, findings: this.#findings }, media, check);
    }
    const read = createReader(document, schema, syntax);
    return typeof read === 'string' ? read : (bytes) => checkReading(read(bytes), check);
  }
}

const checkReading = (reading: Reading, check: Check): readonly ValueFault[] => check(reading.value, reading);

function* jsonSteps(bytes: Uint8Array, { reading }: Document, check: Check): Steps {
  const result = yield* readJsonInSteps(bytes, reading.maxDepth);
  return inBody(() => checkReading(readingOf(result, true), check));
}

function inBody(check: () => readonly ValueFault[]): readonly Fault[] {
  let faults: readonly ValueFault[];
  try {
    faults = check();
  } catch (thrown) {
    faults = [faultBelow('', thrown)];
  }
  return faults.length === 0 ? NONE : faults.map((fault) => ({ in: 'body', ...fault }));
}

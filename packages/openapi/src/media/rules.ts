import type { Document } from '../document/document.ts';
import { isObject, type Json } from '../document/source.ts';
import type { Fault } from '../fault.ts';
import { NONE, type ValueFault } from '../faults.ts';
import type { Findings } from '../findings.ts';
import { Parameters } from '../parameters/parameter.ts';
import type { Reading } from '../parameters/reading.ts';
import { noteUnread } from '../parameters/shape.ts';
import type { Direction } from '../schema/directions.ts';
import type { Check, Schemas } from '../schema/schemas.ts';
import { createFormCheck } from './form.ts';
import { createMultipartCheck } from './multipart/multipart.ts';
import { createReader, readJsonSteps, type Syntax } from './reading.ts';
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

interface BodyCheck {
  readonly check: (bytes: Uint8Array, contentType: string) => readonly ValueFault[];
  readonly steps?: (bytes: Uint8Array) => Steps;
}

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
    const made = this.#checkOf(content, type, syntax, direction);
    if (typeof made === 'string') return made;
    const { check, steps } = made;
    return (contentType) => ({
      type,
      check: (bytes) => inBody(check(bytes, contentType)),
      ...(steps && { steps }),
    });
  }

  *prepare(content: Json, type: string, syntax: Syntax): Generator<void, void, void> {
    const schema = this.#document.object(content[type])?.schema;
    if (syntax === 'xml' && isObject(schema)) yield* prepareXmlReader(this.#document, schema);
  }

  #checkOf(content: Json, type: string, syntax: Syntax, direction: Direction): BodyCheck | string {
    const document = this.#document;
    const media = document.object(content[type]) ?? {};
    const schema = isObject(media.schema) ? media.schema : null;
    const check = schema ? this.#schemas.check(schema, direction) : () => NONE;
    if (schema && UNTYPED.has(syntax)) noteUnread(document, schema, this.#findings);
    if (syntax === 'form') {
      const made = createFormCheck(document, media, check);
      return made === null ? 'the schema describes no object' : { check: made };
    }
    if (syntax === 'multipart') {
      const sources = { document, parameters: this.#parameters, findings: this.#findings };
      const made = createMultipartCheck(sources, media, check);
      return typeof made === 'string' ? made : { check: made };
    }
    const read = createReader(document, schema, syntax);
    if (typeof read === 'string') return read;
    const whole = (bytes: Uint8Array) => faultsOf(read(bytes), check);
    if (syntax !== 'json') return { check: whole };
    return {
      check: whole,
      *steps(bytes) {
        return inBody(faultsOf(yield* readJsonSteps(bytes, document), check));
      },
    };
  }
}

function faultsOf({ value, fault, ...written }: Reading, check: Check): readonly ValueFault[] {
  return fault ? [fault] : check(value, written);
}

function inBody(faults: readonly ValueFault[]): readonly Fault[] {
  return faults.length === 0 ? NONE : faults.map((fault) => ({ in: 'body', ...fault }));
}

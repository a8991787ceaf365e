import type { Document } from '../document/document.ts';
import { isObject, type Json } from '../document/source.ts';
import type { Fault } from '../fault.ts';
import { NONE, type ValueFault } from '../faults.ts';
import type { Findings } from '../findings.ts';
import { Parameters } from '../parameters/parameter.ts';
import { noteUnread } from '../parameters/shape.ts';
import type { Direction } from '../schema/directions.ts';
import type { Check, Schemas } from '../schema/schemas.ts';
import { createFormCheck } from './form.ts';
import { createMultipartCheck } from './multipart/multipart.ts';
import { createReader, type ReadBytes, type Syntax } from './reading.ts';
import { prepareXmlReader } from './xml/xml.ts';

export interface MediaRule {
  /** May be a range such as `application/*`. */
  readonly type: string;
  /** `bytes` is not empty. */
  check(bytes: Uint8Array): readonly Fault[];
}

export type RuleFor = (contentType: string) => MediaRule;

type CheckBody = (bytes: Uint8Array, contentType: string) => readonly ValueFault[];

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
    const check = this.#checkBody(content, type, syntax, direction);
    if (typeof check === 'string') return check;
    return (contentType) => ({
      type,
      check(bytes) {
        const faults = check(bytes, contentType);
        return faults.length === 0 ? NONE : faults.map((fault) => ({ in: 'body', ...fault }));
      },
    });
  }

  *prepare(content: Json, type: string, syntax: Syntax): Generator<void, void, void> {
    const schema = this.#document.object(content[type])?.schema;
    if (syntax === 'xml' && isObject(schema)) yield* prepareXmlReader(this.#document, schema);
  }

  #checkBody(content: Json, type: string, syntax: Syntax, direction: Direction): CheckBody | string {
    const media = this.#document.object(content[type]) ?? {};
    const schema = isObject(media.schema) ? media.schema : null;
    const check = schema ? this.#schemas.check(schema, direction) : () => NONE;
    if (schema && UNTYPED.has(syntax)) noteUnread(this.#document, schema, this.#findings);
    if (syntax === 'form') return createFormCheck(this.#document, media, check) ?? 'the schema describes no object';
    if (syntax === 'multipart') {
      const sources = { document: this.#document, parameters: this.#parameters, findings: this.#findings };
      return createMultipartCheck(sources, media, check);
    }
    const reader = createReader(this.#document, schema, syntax);
    return typeof reader === 'string' ? reader : checkOf(reader, check);
  }
}

function checkOf(read: ReadBytes, check: Check): CheckBody {
  return (bytes) => {
    const { value, fault, ...written } = read(bytes);
    return fault ? [fault] : check(value, written);
  };
}

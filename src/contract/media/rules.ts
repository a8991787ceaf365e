import type { Fault } from '../../errors/fault.ts';
import type { Document } from '../document/document.ts';
import type { Json } from '../document/source.ts';
import { type CheckBytes, NONE } from '../faults.ts';
import type { Findings } from '../findings.ts';
import { faultOfJson, readJson } from '../json.ts';
import { read } from '../parameters/reading.ts';
import { shapeOf } from '../parameters/shape.ts';
import type { Check, Schemas } from '../schema/schemas.ts';
import type { Direction } from '../schema/translate.ts';
import { decodeUtf8 } from '../utf8.ts';
import { createFormCheck } from './form.ts';
import { isJson, type MediaType } from './type.ts';

/** The check of a body of one media type. */
export interface MediaRule {
  /** The media type as the contract writes it; it may be a range such as `application/*`. */
  readonly type: string;
  /** The faults in a body of at least one byte. */
  check(bytes: Uint8Array): readonly Fault[];
}

/** The syntaxes of bodies that the gateway can check. Other bodies (`unknown`) pass unchecked. */
export type Syntax = 'json' | 'form' | 'text' | 'unknown';

export function syntaxOf(type: MediaType): Syntax {
  if (isJson(type)) return 'json';
  if (type.type === 'application' && type.subtype === 'x-www-form-urlencoded') return 'form';
  return type.type === 'text' && type.subtype === 'plain' ? 'text' : 'unknown';
}

/** Makes rules of Media Type Objects. */
export class MediaRules {
  readonly #document: Document;
  readonly #schemas: Schemas;
  readonly #findings: Findings;

  constructor(document: Document, schemas: Schemas, findings: Findings) {
    this.#document = document;
    this.#schemas = schemas;
    this.#findings = findings;
  }

  /** The rule for bodies of a syntax, under the entry `type` of `content`. */
  rule(content: Json, type: string, syntax: Syntax, direction: Direction): MediaRule {
    const check = this.#checkBytes(content, type, syntax, direction);
    return {
      type,
      check(bytes) {
        const faults = check(bytes);
        return faults.length === 0 ? NONE : faults.map((fault) => ({ in: 'body', ...fault }));
      },
    };
  }

  #checkBytes(content: Json, type: string, syntax: Syntax, direction: Direction): CheckBytes {
    const media = this.#document.object(content[type]) ?? {};
    const schema = this.#document.object(media.schema);
    const check = schema ? this.#schemas.check(media.schema as Json, direction) : () => NONE;
    if (syntax === 'json') return jsonCheck(check, this.#document.reading.maxDepth);
    if (!schema) return () => NONE;
    const form = syntax === 'form' ? createFormCheck(this.#document, media, check) : null;
    if (form) return form;
    if (syntax === 'text') return textCheck(this.#document, schema, check);
    this.#findings.note(content, type, `bodies of type ${type} are not checked`);
    return () => NONE;
  }
}

function jsonCheck(check: Check, maxDepth: number | undefined): CheckBytes {
  return (bytes) => {
    const { value, fault, ...written } = readJson(bytes, maxDepth);
    return fault ? [faultOfJson(fault, true)] : check(value, written);
  };
}

function textCheck(document: Document, schema: Json, check: Check): CheckBytes {
  const shape = shapeOf(document, schema);
  return (bytes) => {
    const text = decodeUtf8(bytes);
    if (text === null) return [{ pointer: '', message: 'is not UTF-8', rule: 'encoding' }];
    const { value, fault } = read({ form: 'primitive', text }, shape, 'none');
    return fault ? [fault] : check(value);
  };
}

import { demandBytes, demandText } from '../arguments.ts';
import { Binary } from '../binary.ts';
import type { Document } from '../document/document.ts';
import { isObject, type Json } from '../document/source.ts';
import { type Fault, faultBelow, NONE, type ValueFault } from '../faults.ts';
import type { Findings } from '../findings.ts';
import { uncheckedBodyIn } from '../options.ts';
import type { Keep } from '../parameters/parameter.ts';
import { noteUnread, shapeOf } from '../parameters/shape.ts';
import type { Direction } from '../schema/directions.ts';
import { FREE, type Schemas } from '../schema/schemas.ts';
import { atOnce, type Steps } from '../slices.ts';
import { createFormCheck } from './form.ts';
import { createMultipartCheck } from './multipart/multipart.ts';
import {
  type CheckBody,
  createReader,
  type Syntax,
  syntaxOf,
} from './reading.ts';
import { covers, isUtf8Type, type MediaType, parseMediaType } from './type.ts';
import { prepareXmlReader } from './xml/xml.ts';

export interface MediaRule {
  /** May be a range such as `application/*`. */
  readonly type: string;
  /** `bytes` is not empty. `keep` gets the value of JSON, a form, XML or text. */
  check(bytes: Uint8Array, keep?: Keep): readonly Fault[];
  /** `check` in steps of about a millisecond. Others may be checked between them. */
  steps(bytes: Uint8Array, keep?: Keep): MediaSteps;
}

export type MediaSteps = Steps<readonly Fault[]>;

const UNTYPED: ReadonlySet<Syntax> = new Set(['form', 'multipart', 'xml']);

export interface Content {
  /** In the spelling of the contract. */
  readonly accepted: readonly string[];
  readonly unchecked: boolean;
  /** `null` if the contract has no rule for the Content-Type, or the body is not UTF-8. */
  media(contentType: string | undefined): MediaRule | null;
}

/** Bodies that cannot be checked pass with a note, or this reports a problem. */
type Uncheckable = 'pass' | ((type: string, message: string) => void);

interface Entry {
  /** In the spelling of the contract. */
  readonly type: string;
  readonly range: MediaType;
  readonly checks: Checks;
}

/** Without a check, the reason. */
type Checks = ReadonlyMap<Syntax, CheckBody | string>;

const PASS: CheckBody = () => FREE.steps(undefined);

const SUFFIXES = [
  '',
  '; charset=utf-8',
  ';charset=utf-8',
  '; charset=UTF-8',
  ';charset=UTF-8',
];

export function createContent(
  content: Json,
  direction: Direction,
  schemas: Schemas,
  uncheckable: Uncheckable,
): Content {
  const { findings } = schemas.document;
  const entries: Entry[] = [];
  const passes = uncheckable === 'pass';
  let unchecked = false;
  for (const type of Object.keys(content)) {
    const range = parseMediaType(type);
    if (!range) {
      findings.problem(content, type, `${type} is not a media type`);
      continue;
    }
    const checks: Checks = new Map(
      syntaxesIn(range).map((syntax) => [
        syntax,
        checkOf(schemas, content[type], syntax, direction),
      ]),
    );
    unchecked ||= passes && checks.values().some(isReason);
    report(content, type, checks, uncheckable, schemas.document);
    if (direction === 'request') noteOpen(content, type, range, findings);
    entries.push({ type, range, checks });
  }
  entries.sort((a, b) => weightOf(b.range) - weightOf(a.range));
  const accepted = Object.keys(content);
  const choose = (contentType: string) =>
    chooseRule(entries, contentType, passes);
  const usual = new Map(
    accepted.flatMap((type) =>
      SUFFIXES.map((suffix) => [type + suffix, choose(type + suffix)] as const),
    ),
  );
  return {
    accepted,
    unchecked,
    media(contentType) {
      if (contentType === undefined) return null;
      demandText(contentType, 'the Content-Type');
      const cached = usual.get(contentType);
      return cached === undefined ? choose(contentType) : cached;
    },
  };
}

export function* prepareContent(content: Json, document: Document): Steps {
  for (const [type, media] of Object.entries(content)) {
    const range = parseMediaType(type);
    const schema = document.object(media)?.schema;
    if (range && syntaxesIn(range).includes('xml') && isObject(schema))
      yield* prepareXmlReader(document, schema);
  }
}

const isReason = (check: CheckBody | string | undefined) =>
  typeof check === 'string';

/** Every kind of type may end in `+json` or `+xml`. */
function syntaxesIn(range: MediaType): readonly Syntax[] {
  if (range.subtype !== '*') return [syntaxOf(range)];
  if (range.type === '*')
    return ['json', 'form', 'multipart', 'xml', 'text', 'bytes'];
  if (range.type === 'application') return ['json', 'form', 'xml', 'bytes'];
  if (range.type === 'multipart') return ['multipart', 'bytes'];
  return range.type === 'text'
    ? ['json', 'xml', 'text']
    : ['bytes', 'json', 'xml'];
}

/**
 * A range only loses the types that cannot be checked. A type, or a range without its main syntax,
 * is a problem.
 */
function report(
  content: Json,
  type: string,
  checks: Checks,
  uncheckable: Uncheckable,
  document: Document,
): void {
  const { findings, reading } = document;
  const [why] = checks.values().filter(isReason);
  if (why === undefined) return;
  const cached = [...checks].flatMap(([syntax, check]) =>
    isReason(check) ? [] : [syntax],
  );
  const [main] = checks.values();
  if (uncheckable === 'pass') {
    const which = cached.length > 0 ? 'some bodies' : 'bodies';
    findings.note(
      content,
      type,
      `${which} of type ${type} are not checked: ${why}`,
    );
  } else if (main === why) {
    const remedy = `${uncheckedBodyIn(reading)}: true lets them pass`;
    uncheckable(
      type,
      `bodies of type ${type} cannot be checked: ${main}; ${remedy}`,
    );
  } else {
    findings.note(
      content,
      type,
      `bodies of type ${type} are taken in these syntaxes only: ${cached.join(', ')}`,
    );
  }
}

function noteOpen(
  content: Json,
  type: string,
  range: MediaType,
  findings: Findings,
): void {
  const { [type]: media } = content;
  const open =
    !isObject(media) ||
    !isObject(media.schema) ||
    Object.keys(media.schema).length === 0;
  if (open && syntaxesIn(range).includes('bytes')) {
    findings.note(content, type, `${type} has no schema: it may be any bytes`);
  }
}

function weightOf({ type, subtype, parameters }: MediaType): number {
  return (
    (type === '*' ? 0 : 1000) + (subtype === '*' ? 0 : 1000) + parameters.size
  );
}

function chooseRule(
  entries: readonly Entry[],
  contentType: string,
  passes: boolean,
): MediaRule | null {
  const type = parseMediaType(contentType);
  const entry = type && entries.find(({ range }) => covers(range, type));
  if (!entry) return null;
  const syntax = syntaxOf(type);
  if (syntax !== 'bytes' && !isUtf8Type(type)) return null;
  const made = entry.checks.get(syntax);
  const check = isReason(made) && passes ? PASS : made;
  if (!check || isReason(check)) return null;
  const steps = (bytes: Uint8Array, keep?: Keep) => {
    demandBytes(bytes);
    return inBody(check(bytes, contentType, keep));
  };
  return {
    type: entry.type,
    check: (bytes, keep) => atOnce(steps(bytes, keep)),
    steps,
  };
}

/** Returns a sentence if bodies cannot be checked. */
function checkOf(
  schemas: Schemas,
  described: unknown,
  syntax: Syntax,
  direction: Direction,
): CheckBody | string {
  const { document } = schemas;
  const media = document.object(described) ?? {};
  const { schema } = media;
  const check = isObject(schema) ? schemas.check(schema, direction) : FREE;
  const shape = shapeOf(document, schema);
  if (UNTYPED.has(syntax)) noteUnread(document, shape);
  if (syntax === 'form')
    return createFormCheck(document, media, shape, check, direction);
  if (syntax === 'multipart')
    return createMultipartCheck(schemas, media, shape, check, direction);
  const read = createReader(document, shape, syntax, direction);
  if (typeof read === 'string') return read;
  return function* checkReading(bytes, _contentType, keep) {
    const reading = yield* read(bytes);
    if (syntax !== 'bytes' && !(reading.value instanceof Binary))
      keep?.(reading.value);
    return yield* check.steps(reading.value, reading);
  };
}

function* inBody(steps: ReturnType<CheckBody>): MediaSteps {
  let faults: readonly ValueFault[];
  try {
    faults = yield* steps;
  } catch (thrown) {
    faults = [faultBelow('', thrown)];
  }
  return faults.length === 0
    ? NONE
    : faults.map((fault) => ({ in: 'body', ...fault }));
}

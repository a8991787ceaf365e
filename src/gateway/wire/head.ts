import { type CheckedLines, checkedLines } from '@storegate/http1';
import { withoutFields } from '../../common/field-list.ts';
import { isWellFormed } from '../../records/keys/secret.ts';
import type { CallFields } from './call.ts';
import { type FieldNames, optionsOf } from './fields.ts';
import { traceparentOf, tracestateOf } from './trace-context.ts';

const NONE: readonly string[] = Object.freeze([]);

class Fields {
  apiKeys = NONE;
  authorizations = NONE;
  host: string | undefined = undefined;
  contentType: string | undefined = undefined;
  contentTypes = 0;
  contentEncoding: string | undefined = undefined;
  expect: string | undefined = undefined;
  /** In lower case. */
  upgrade: string | undefined = undefined;
  /** Whether Connection lists it too (RFC 9110 section 7.8). */
  upgrades = false;
  accept: string | undefined = undefined;
  origin: string | undefined = undefined;
  preflightMethod: string | undefined = undefined;
  preflightHeaders: string | undefined = undefined;
  forwardedFor = '';
  forwardedProto: string | undefined = undefined;
  forwardedHost: string | undefined = undefined;
  via: string | undefined = undefined;
  /** W3C Trace Context, well-formed; copies. The second needs the first. */
  traceparent: string | undefined = undefined;
  tracestate: string | undefined = undefined;
  /** Flat, spelt as received. */
  forwardable: string[] = [];
  lines = '' as CheckedLines;
}

export type Head = Readonly<Fields>;

/** After a reload other fields may be forwarded. */
interface Meaning {
  readonly names: FieldNames;
  readonly head: Head;
}

export function headOf(fields: CallFields, names: FieldNames): Head {
  const cached = fields.meaning as Meaning | null;
  if (cached?.names === names) return cached.head;
  const head = readHead(fields.list, names);
  fields.meaning = { names, head } satisfies Meaning;
  return head;
}

export function readHead(
  rawHeaders: readonly string[],
  names: FieldNames,
): Head {
  const head = new Fields();
  let connection = '';
  let traceparents = 0;
  let tracestate: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const value = rawHeaders[i + 1]!;
    const { name, forwarded, isKey } = names.of(rawHeaders[i]!);
    if (forwarded && !(names.hide && isWellFormed(value)))
      head.forwardable.push(rawHeaders[i]!, value);
    if (isKey) head.apiKeys = [...head.apiKeys, value];
    switch (name) {
      case 'authorization':
        head.authorizations = [...head.authorizations, value];
        break;
      case 'host':
        head.host = value;
        break;
      case 'content-type':
        head.contentType = value;
        head.contentTypes++;
        break;
      case 'content-encoding':
        head.contentEncoding = joined(head.contentEncoding, value);
        break;
      case 'expect':
        head.expect = joined(head.expect, value);
        break;
      case 'upgrade':
        head.upgrade = joined(head.upgrade, value.toLowerCase());
        break;
      case 'accept':
        head.accept = joined(head.accept, value);
        break;
      case 'origin':
        head.origin = value;
        break;
      case 'access-control-request-method':
        head.preflightMethod = value;
        break;
      case 'access-control-request-headers':
        head.preflightHeaders = value;
        break;
      case 'x-forwarded-for':
        head.forwardedFor = head.forwardedFor
          ? `${head.forwardedFor}, ${value}`
          : value;
        break;
      case 'x-forwarded-proto':
        head.forwardedProto = value;
        break;
      case 'x-forwarded-host':
        head.forwardedHost = value;
        break;
      case 'via':
        head.via = joined(head.via, value);
        break;
      case 'traceparent':
        head.traceparent =
          traceparents++ === 0 ? traceparentOf(value) : undefined;
        break;
      case 'tracestate':
        tracestate = joined(tracestate, value);
        break;
      case 'connection':
        connection = connection ? `${connection},${value}` : value;
        break;
    }
  }
  if (
    connection !== '' &&
    connection !== 'keep-alive' &&
    connection !== 'close'
  ) {
    const options = optionsOf(connection);
    head.upgrades = options.includes('upgrade');
    // The backend gets what was checked.
    const removed = options.filter((name) => !names.of(name).isChecked);
    head.forwardable = withoutFields(head.forwardable, removed);
  }
  if (names.hide && head.authorizations.length > 0) hideKeys(head, names);
  if (traceparents > 0 || tracestate !== undefined)
    takeTrace(head, traceparents, tracestate);
  head.lines = checkedLines(head.forwardable);
  return head;
}

/**
 * Authorization reaches the backend unless it holds a key. A key in the wrong header is hidden too.
 */
function hideKeys(head: Fields, names: FieldNames): void {
  const holdsKey = (value: string): boolean =>
    (names.bearer && bearerToken(value) !== null) ||
    isWellFormed(value.slice(value.trimEnd().lastIndexOf(' ') + 1).trimEnd()) ||
    head.apiKeys.some((key) => value.includes(key));
  if (head.authorizations.some(holdsKey))
    head.forwardable = withoutFields(head.forwardable, ['authorization']);
}

/** RFC 6750 section 2.1; `null`: another scheme. */
export function bearerToken(authorization: string): string | null {
  const match = /^bearer +(\S+) *$/i.exec(authorization);
  return match ? match[1]! : null;
}

/** A malformed trace is dropped: the backend must not use what the gateway ignored. */
function takeTrace(
  head: Fields,
  traceparents: number,
  tracestate: string | undefined,
): void {
  if (head.traceparent !== undefined && tracestate !== undefined)
    head.tracestate = tracestateOf(tracestate);
  const wrong = [];
  if (traceparents > 0 && head.traceparent === undefined)
    wrong.push('traceparent');
  if (tracestate !== undefined && head.tracestate === undefined)
    wrong.push('tracestate');
  if (wrong.length > 0)
    head.forwardable = withoutFields(head.forwardable, wrong);
}

/** RFC 9110 section 5.3. */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

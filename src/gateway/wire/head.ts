import { type FieldNames, optionsOf } from './fields.ts';

/** What the gateway reads from a request's header section, in one pass over the raw headers. */
export interface Head {
  /** Values of X-API-Key and of Authorization, one per header line. */
  readonly apiKeys: readonly string[];
  readonly authorizations: readonly string[];
  readonly hosts: readonly string[];
  readonly contentType: string | undefined;
  readonly contentTypes: number;
  readonly contentEncoding: string | undefined;
  /** Declared length of the body in bytes; `null` if none. The parser has checked the framing. */
  readonly contentLength: number | null;
  /** Values of Transfer-Encoding, joined in order; `undefined`: none. */
  readonly transferEncoding: string | undefined;
  /** Values of Expect, joined in order. */
  readonly expect: string | undefined;
  readonly upgrade: boolean;
  readonly origin: string | undefined;
  readonly preflightMethod: string | undefined;
  readonly preflightHeaders: string | undefined;
  /** All X-Forwarded-For lines, joined in order. */
  readonly forwardedFor: string;
  readonly forwardedProto: string | undefined;
  readonly forwardedHost: string | undefined;
  /** The caller's headers that may reach the store, flat, spelt as received. */
  readonly forwardable: readonly string[];
}

const NONE: readonly string[] = Object.freeze([]);

export function readHead(rawHeaders: readonly string[], names: FieldNames): Head {
  const head = {
    apiKeys: NONE as string[],
    authorizations: NONE as string[],
    hosts: NONE as string[],
    contentType: undefined as string | undefined,
    contentTypes: 0,
    contentEncoding: undefined as string | undefined,
    contentLength: null as number | null,
    transferEncoding: undefined as string | undefined,
    expect: undefined as string | undefined,
    upgrade: false,
    origin: undefined as string | undefined,
    preflightMethod: undefined as string | undefined,
    preflightHeaders: undefined as string | undefined,
    forwardedFor: '',
    forwardedProto: undefined as string | undefined,
    forwardedHost: undefined as string | undefined,
    forwardable: [] as string[],
  };
  let connection = '';
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const value = rawHeaders[i + 1]!;
    const { name, forwarded } = names.of(rawHeaders[i]!);
    if (forwarded) head.forwardable.push(rawHeaders[i]!, value);
    switch (name) {
      case 'x-api-key':
        head.apiKeys = added(head.apiKeys, value);
        break;
      case 'authorization':
        head.authorizations = added(head.authorizations, value);
        break;
      case 'host':
        head.hosts = added(head.hosts, value);
        break;
      case 'content-type':
        head.contentType = value;
        head.contentTypes++;
        break;
      case 'content-encoding':
        head.contentEncoding = joined(head.contentEncoding, value);
        break;
      case 'content-length':
        head.contentLength = Number(value);
        break;
      case 'transfer-encoding':
        head.transferEncoding = joined(head.transferEncoding, value);
        break;
      case 'expect':
        head.expect = joined(head.expect, value);
        break;
      case 'upgrade':
        head.upgrade = true;
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
        head.forwardedFor = head.forwardedFor ? `${head.forwardedFor}, ${value}` : value;
        break;
      case 'x-forwarded-proto':
        head.forwardedProto = value;
        break;
      case 'x-forwarded-host':
        head.forwardedHost = value;
        break;
      case 'connection':
        connection = connection ? `${connection},${value}` : value;
        break;
    }
  }
  if (!namesNothing(connection)) head.forwardable = without(head.forwardable, optionsOf(connection));
  return head;
}

/** Whether the header section announces a body (RFC 9112 section 6.3). */
export function hasBody(head: Head): boolean {
  return head.transferEncoding !== undefined || (head.contentLength ?? 0) > 0;
}

/** Several lines with one name form one list (RFC 9110 section 5.3). */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

function added(list: readonly string[], value: string): string[] {
  return [...list, value];
}

/** True for the usual values of Connection, which name no header to drop. */
function namesNothing(connection: string): boolean {
  return connection === '' || connection === 'keep-alive' || connection === 'close';
}

function without(headers: readonly string[], names: readonly string[]): string[] {
  return headers.filter((_, i) => !names.includes(headers[i - (i % 2)]!.toLowerCase()));
}

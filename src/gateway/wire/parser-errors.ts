import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { plainAddress } from '../../callers/address.ts';
import type { Guard } from '../../callers/guard.ts';
import { Refusal } from '../../errors/refusals.ts';
import type { Observe } from '../../observe/events.ts';
import { pushLimitHeaders } from '../reply/headers.ts';

/** An error of Node's parser: `rawPacket` is the read it happened in. */
interface ParserError extends NodeJS.ErrnoException {
  readonly reason?: string;
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

/** Answers for what never became a request, in the same form as everything else. */
export interface ParserErrors {
  refusalOf(error: NodeJS.ErrnoException, socket: Socket): Refusal;
  /** Writes the answer. Nothing on the connection can be trusted after it. Never rejects. */
  answer(error: NodeJS.ErrnoException, socket: Socket): Promise<void>;
}

export function createParserErrors({ guard, observe }: { guard: Guard; observe: Observe }): ParserErrors {
  async function write(error: NodeJS.ErrnoException, socket: Socket): Promise<void> {
    const startedAt = performance.now();
    const refusal = refusalOf(error, socket);
    const address = plainAddress(socket.remoteAddress);
    const id = randomUUID();
    const { body } = refusal;
    const headers = ['X-Request-Id', id];
    pushLimitHeaders(headers, await guard.look(address));
    headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
    headers.push('Content-Length', `${Buffer.byteLength(body)}`, 'Connection', 'close');
    socket.write(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines(headers)}\r\n${body}`);
    observe({
      type: 'request',
      id,
      method: 'other',
      operation: 'none',
      status: refusal.status,
      complete: true,
      code: refusal.code,
      verdict: null,
      keyId: null,
      account: null,
      plan: null,
      address,
      duration: performance.now() - startedAt,
      upstream: null,
    });
  }

  return {
    refusalOf,
    answer: (error, socket) =>
      write(error, socket).catch((bug) => {
        observe({ type: 'bug', id: 'none', error: bug });
        socket.destroy();
      }),
  };
}

/** By the codes of Node's parser and timers. Everything else it rejects is a malformed request. */
function refusalOf(error: ParserError, socket: Socket): Refusal {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal('request_timeout', { close: true });
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal(overflowsInTarget(error, socket) ? 'uri_too_long' : 'headers_too_large', { close: true });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Refusal('payload_too_large', { message: 'The chunk extensions are too large.', close: true });
    case 'HPE_INVALID_METHOD':
      return startsWithToken(error) ? new Refusal('not_implemented', { close: true }) : malformed();
    case 'HPE_INVALID_VERSION':
      return error.reason === 'Invalid HTTP version'
        ? new Refusal('http_version_not_supported', { close: true })
        : malformed();
    case 'HPE_PAUSED_H2_UPGRADE':
      return new Refusal('http_version_not_supported', { close: true });
    case 'HPE_INVALID_TRANSFER_ENCODING':
      return malformed('The Transfer-Encoding is not valid.');
    default:
      return malformed();
  }
}

function malformed(message?: string): Refusal {
  return new Refusal('malformed_request', { ...(message === undefined ? {} : { message }), close: true });
}

/** Whether all that was read on the connection is one line that does not end: the fault is in the target then. */
function overflowsInTarget({ rawPacket, bytesParsed }: ParserError, socket: Socket): boolean {
  if (rawPacket === undefined || rawPacket.length !== socket.bytesRead) return false;
  return !rawPacket.subarray(0, bytesParsed).includes('\n');
}

/** A method nobody knows (RFC 9110 section 9.1), as against bytes that are no method at all, such as a TLS handshake. */
function startsWithToken({ rawPacket, bytesParsed = 0 }: ParserError): boolean {
  if (!rawPacket) return false;
  const line = rawPacket.lastIndexOf('\n', Math.max(0, bytesParsed - 1)) + 1;
  return /^[!#$%&'*+.^_`|~\w-]{1,64} \S/.test(rawPacket.toString('latin1', line, line + 80));
}

function lines(headers: readonly string[]): string {
  let text = '';
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return text;
}

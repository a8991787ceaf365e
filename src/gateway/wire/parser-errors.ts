import type { Socket } from 'node:net';
import { Refusal } from '../../errors/refusals.ts';

/** An error of Node's parser; `rawPacket` is the read in which it happened. */
interface ParserError extends NodeJS.ErrnoException {
  readonly reason?: string;
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

/** The refusal for an error of Node's parser or timers. A code not listed here is a malformed request. */
export function refusalOf(error: ParserError, socket: Socket): Refusal {
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

/** Whether the connection has sent only one line without an end; then the target is too long. */
function overflowsInTarget({ rawPacket, bytesParsed }: ParserError, socket: Socket): boolean {
  if (rawPacket === undefined || rawPacket.length !== socket.bytesRead) return false;
  return !rawPacket.subarray(0, bytesParsed).includes('\n');
}

/** Whether the line starts with an unknown method (RFC 9110 section 9.1) and not with, say, a TLS handshake. */
function startsWithToken({ rawPacket, bytesParsed = 0 }: ParserError): boolean {
  if (!rawPacket) return false;
  const line = rawPacket.lastIndexOf('\n', Math.max(0, bytesParsed - 1)) + 1;
  return /^[!#$%&'*+.^_`|~\w-]{1,64} \S/.test(rawPacket.toString('latin1', line, line + 80));
}

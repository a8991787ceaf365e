/** A handshake and its acceptance (RFC 6455 section 1.3). */
export const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
} as const;

export const HANDSHAKE_LINES: readonly string[] = Object.entries(HANDSHAKE).map((pair) =>
  pair.join(': '),
);

/** Without the empty line. */
export const SWITCHING =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n';

export const SWITCHED = `${SWITCHING}\r\n`;

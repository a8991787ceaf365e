import { expect, test } from '@jest/globals';
import { readFields } from '../src/fields.ts';
import { faultOfSwitch } from '../src/websocket.ts';

const fieldsOf = (...lines: string[]) =>
  readFields(`${lines.map((line) => `${line}\r\n`).join('')}\r\n`);

/** RFC 6455 section 1.3. */
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
const ACCEPT = 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
const SWITCH = ['Upgrade: websocket', 'Connection: Upgrade'];
const OFFER = [
  'Sec-WebSocket-Protocol: chat, v2',
  'sec-websocket-protocol: v3',
  'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits, x',
];

test.each<[string, string[]]>([
  ['the least', SWITCH],
  ['other letter case', ['upgrade: WebSocket', 'connection: keep-alive, upgrade']],
  ['two lines', ['Upgrade: websocket', 'Connection: close', 'Connection: Upgrade']],
  ['a subprotocol', [...SWITCH, 'Sec-WebSocket-Protocol: v2']],
  ['one of another line', [...SWITCH, 'Sec-WebSocket-Protocol: v3']],
  [
    'extensions',
    [...SWITCH, 'Sec-WebSocket-Extensions: x, permessage-deflate; server_no_context_takeover'],
  ],
])('a response accepts a handshake: %s', (_what, response) => {
  expect(faultOfSwitch(fieldsOf(KEY, ...OFFER), fieldsOf(ACCEPT, ...response))).toBeNull();
});

const NOT_WEBSOCKET = 'does not switch to "websocket"';
const NO_ACCEPT = 'has no Sec-WebSocket-Accept of the Sec-WebSocket-Key';
const PROTOCOL = 'chooses a Sec-WebSocket-Protocol that was not offered';
const EXTENSION = 'uses a Sec-WebSocket-Extensions that was not offered';

test.each<[string[], string]>([
  [['Upgrade: foo', 'Connection: Upgrade', ACCEPT], NOT_WEBSOCKET],
  [['Upgrade: websocket, foo', 'Connection: Upgrade', ACCEPT], NOT_WEBSOCKET],
  [['Upgrade: websocket', ...SWITCH, ACCEPT], NOT_WEBSOCKET],
  [['Connection: Upgrade', ACCEPT], NOT_WEBSOCKET],
  [['Upgrade: websocket', ACCEPT], 'switches without "Connection: Upgrade"'],
  [['Upgrade: websocket', 'Connection: close', ACCEPT], 'switches without "Connection: Upgrade"'],
  [SWITCH, NO_ACCEPT],
  [[...SWITCH, ACCEPT, ACCEPT], NO_ACCEPT],
  [[...SWITCH, ACCEPT.toLowerCase()], NO_ACCEPT],
  [[...SWITCH, 'Sec-WebSocket-Accept: dGhlIHNhbXBsZSBub25jZQ=='], NO_ACCEPT],
  [[...SWITCH, ACCEPT, 'Sec-WebSocket-Protocol: Chat'], PROTOCOL],
  [[...SWITCH, ACCEPT, 'Sec-WebSocket-Protocol: chat, v2'], PROTOCOL],
  [[...SWITCH, ACCEPT, 'Sec-WebSocket-Extensions: y'], EXTENSION],
])('a response with %j does not: it %s', (response, fault) => {
  expect(faultOfSwitch(fieldsOf(KEY, ...OFFER), fieldsOf(...response))).toBe(fault);
});

test('nothing may be chosen if nothing was offered', () => {
  const chosen = (line: string) => faultOfSwitch(fieldsOf(KEY), fieldsOf(...SWITCH, ACCEPT, line));
  expect(chosen('Sec-WebSocket-Protocol: chat')).toBe(PROTOCOL);
  expect(chosen('Sec-WebSocket-Extensions: x')).toBe(EXTENSION);
});

test('a request without a key cannot be accepted', () => {
  expect(faultOfSwitch(fieldsOf(), fieldsOf(...SWITCH, ACCEPT))).toBe(NO_ACCEPT);
});

import { createHash } from 'node:crypto';
import { type Fields, listed } from './fields.ts';

/** RFC 6455 section 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Base64 of 16 bytes (RFC 6455 section 4.1). */
export const WEBSOCKET_KEY: RegExp = /^[A-Za-z0-9+/]{22}==$/;

/**
 * Whether a 101 response accepts the handshake that was asked (RFC 6455 section 4.1). Returns the
 * end of the sentence "the response …"; `null`: it does.
 */
export function faultOfSwitch(
  requested: Fields,
  response: Fields,
): string | null {
  const upgrades = tokens(response, 'upgrade').map(inLowerCase);
  if (upgrades.length !== 1 || upgrades[0] !== 'websocket')
    return 'does not switch to "websocket"';
  if (!tokens(response, 'connection').map(inLowerCase).includes('upgrade'))
    return 'switches without "Connection: Upgrade"';
  const [key = ''] = valuesOf(requested, 'sec-websocket-key');
  const accepts = valuesOf(response, 'sec-websocket-accept');
  if (accepts.length !== 1 || accepts[0] !== acceptOf(key))
    return 'has no Sec-WebSocket-Accept of the Sec-WebSocket-Key';
  const offered = tokens(requested, 'sec-websocket-protocol');
  const chosen = tokens(response, 'sec-websocket-protocol');
  if (chosen.length > 1 || chosen.some((name) => !offered.includes(name)))
    return 'chooses a Sec-WebSocket-Protocol that was not offered';
  const allowed = tokens(requested, 'sec-websocket-extensions').map(nameOf);
  const used = tokens(response, 'sec-websocket-extensions').map(nameOf);
  if (used.some((name) => !allowed.includes(name)))
    return 'uses a Sec-WebSocket-Extensions that was not offered';
  return null;
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}${GUID}`).digest('base64');
}

const inLowerCase = (text: string) => text.toLowerCase();
/** Without its parameters. */
const nameOf = (extension: string) => extension.split(';', 1)[0]!.trim();

function valuesOf({ list }: Fields, name: string): string[] {
  return list.filter(
    (_, i) => i % 2 === 1 && inLowerCase(list[i - 1]!) === name,
  );
}

const tokens = (fields: Fields, name: string): string[] =>
  valuesOf(fields, name)
    .flatMap(listed)
    .filter((one) => one !== '');

import { isIPv4, isIPv6 } from 'node:net';

export interface Origin {
  /**
   * `null` for that of the socket: the balancer connects for itself (a health check) or reports no
   * address.
   */
  readonly address: string | null;
  /** Also if a balancer reports TLS. */
  readonly secure: boolean;
}

export const NO_ORIGIN: Origin = Object.freeze({
  address: null,
  secure: false,
});

/** `null` if more bytes are needed; text: why it is invalid. */
export type ProxyHeader =
  | { readonly announced: Origin; readonly length: number }
  | null
  | string;

const SIGNATURE = Buffer.from([
  0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a,
]);
const TEXT = Buffer.from('PROXY ', 'latin1');
/** Version 1, with its line end (section 2.1 of the specification). */
const LONGEST_LINE = 107;
/** Version 2: addresses have at most 216 bytes; few balancers send further fields. */
const LONGEST_REST = 4_096;
const FIXED = 16;

const SSL = 0x20;
const CRC32C = 0x03;
const CLIENT_SSL = 0x01;

/** By family and transport. */
const ADDRESSES: Readonly<Record<number, number>> = {
  17: 12,
  18: 12,
  33: 36,
  34: 36,
  49: 216,
  50: 216,
};

/**
 * Version 1 or 2 (https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt). Ambiguous headers
 * are refused.
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (begins(bytes, SIGNATURE))
    return bytes.length < FIXED ? null : readBinary(bytes);
  if (begins(bytes, TEXT)) return readLine(bytes);
  return 'the PROXY protocol header is missing';
}

function begins(bytes: Buffer, start: Buffer): boolean {
  const existing = Math.min(bytes.length, start.length);
  return bytes.compare(start, 0, existing, 0, existing) === 0;
}

function readLine(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, LONGEST_LINE).indexOf('\r\n', 0, 'latin1');
  if (end < 0)
    return bytes.length >= LONGEST_LINE
      ? `its line is longer than ${LONGEST_LINE} bytes`
      : null;
  const line = bytes.toString('latin1', 0, end);
  const length = end + 2;
  // The rest of the line is ignored (section 2.1).
  if (line === 'PROXY UNKNOWN' || line.startsWith('PROXY UNKNOWN '))
    return { announced: NO_ORIGIN, length };
  const [, family, source = '', target = '', ...ports] =
    /^PROXY (TCP4|TCP6) ([0-9a-fA-F.:]+) ([0-9a-fA-F.:]+) (0|[1-9][0-9]{0,4}) (0|[1-9][0-9]{0,4})$/.exec(
      line,
    ) ?? [];
  if (family === undefined) return 'its line is not in the form of version 1';
  const isAddress = family === 'TCP4' ? isIPv4 : isIPv6;
  if (!isAddress(source) || !isAddress(target))
    return `it has an address that is not of ${family}`;
  if (ports.some((port) => Number(port) > 65_535))
    return 'it has a port above 65535';
  return { announced: { address: canonical(source), secure: false }, length };
}

function readBinary(bytes: Buffer): ProxyHeader {
  const [versionAndCommand, kind] = [bytes[12]!, bytes[13]!];
  const rest = bytes.readUInt16BE(14);
  if (versionAndCommand >> 4 !== 2)
    return `it has version ${versionAndCommand >> 4}, and not 2`;
  const command = versionAndCommand & 0x0f;
  if (command > 1) return `it has the unknown command ${command}`;
  if (rest > LONGEST_REST)
    return `it is longer than ${FIXED + LONGEST_REST} bytes`;
  const length = FIXED + rest;
  if (bytes.length < length) return null;
  // LOCAL: the rest is ignored (section 2.2).
  if (command === 0) return { announced: NO_ORIGIN, length };
  // Unspecified: the real addresses apply.
  const existing = kind === 0 ? 0 : ADDRESSES[kind];
  if (existing === undefined)
    return `it has the unknown family and transport ${kind}`;
  if (rest < existing) return 'it is shorter than its addresses';
  const secure = readFields(bytes, FIXED + existing, length);
  if (typeof secure === 'string') return secure;
  return {
    announced: { address: addressIn(bytes, kind >> 4), secure },
    length,
  };
}

/** `null` for families without a network address, such as Unix sockets. */
function addressIn(bytes: Buffer, family: number): string | null {
  if (family === 1) return bytes.subarray(FIXED, FIXED + 4).join('.');
  if (family !== 2) return null;
  const groups = Array.from({ length: 8 }, (_, i) =>
    bytes.readUInt16BE(FIXED + 2 * i).toString(16),
  );
  return canonical(groups.join(':'));
}

/** An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) in URL's spelling. */
const MAPPED = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/;

/** RFC 5952. Balancers map IPv4 addresses to IPv6 if the other side of the connection uses IPv6. */
function canonical(address: string): string {
  if (!isIPv6(address)) return address;
  const spelled = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, ...groups] = MAPPED.exec(spelled) ?? [];
  if (groups.length === 0) return spelled;
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((number) => [number >> 8, number & 255])
    .join('.');
}

/** Text: why the fields are invalid. */
function readFields(
  bytes: Buffer,
  from: number,
  end: number,
): boolean | string {
  let secure = false;
  for (let at = from; at < end; ) {
    if (end - at < 3) return 'it ends inside a field';
    const value = at + 3;
    const next = value + bytes.readUInt16BE(at + 1);
    if (next > end) return 'it ends inside a field';
    if (bytes[at] === SSL) {
      // The fields present and whether the client's certificate was valid.
      if (next - value < 5) return 'its field about TLS is too short';
      secure = (bytes[value]! & CLIENT_SSL) !== 0;
    }
    if (bytes[at] === CRC32C) {
      if (next - value !== 4) return 'its checksum has not 4 bytes';
      if (bytes.readUInt32BE(value) !== checksum(bytes, value, end))
        return 'its checksum is wrong';
    }
    at = next;
  }
  return secure;
}

/** CRC-32C of the header with a zeroed checksum field. */
function checksum(bytes: Buffer, hole: number, end: number): number {
  let crc = 0xffff_ffff;
  for (let i = 0; i < end; i++) {
    crc ^= i >= hole && i < hole + 4 ? 0 : bytes[i]!;
    for (let bit = 0; bit < 8; bit++)
      crc = (crc >>> 1) ^ (crc & 1 ? 0x82f6_3b78 : 0);
  }
  return ~crc >>> 0;
}

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/**
 * A header of version 2; with `checksum`, its last four bytes become the checksum of the header.
 */
export function binary(command: number, kind: number, ...parts: (Buffer | 'checksum')[]): Buffer {
  const rest = Buffer.concat(parts.filter((part) => part !== 'checksum'));
  const bytes = Buffer.concat([
    SIGNATURE,
    Buffer.from([command, kind, rest.length >> 8, rest.length & 0xff]),
    rest,
  ]);
  if (parts.includes('checksum')) bytes.writeUInt32BE(crc32c(bytes), bytes.length - 4);
  return bytes;
}

export function field(type: number, value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([Buffer.from([type, bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

/** By a table, unlike the implementation under test. */
function crc32c(bytes: Buffer): number {
  const table = Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    return crc >>> 0;
  });
  return ~bytes.reduce((crc, byte) => (crc >>> 8) ^ table[(crc ^ byte) & 0xff]!, 0xffff_ffff) >>> 0;
}

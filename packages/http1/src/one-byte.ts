/**
 * The same Latin-1 text with one byte per character in V8. V8 may share a constant with a document that contains other
 * characters and store it with two bytes; one such part makes a whole response two-byte.
 */
export function oneByte(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

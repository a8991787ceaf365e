/**
 * V8 may store a constant of a document with other characters with two bytes each; one such part makes a whole response
 * two-byte.
 */
export function oneByte(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

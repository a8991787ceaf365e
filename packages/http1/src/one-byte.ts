/**
 * The same Latin-1 text as V8 keeps it in one byte per character. A constant that also stands in a document with other
 * characters may be shared with it, as two; one such part makes a whole answer be put together, and converted, in two.
 */
export function oneByte(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

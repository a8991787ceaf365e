/** One constant that V8 stores with two bytes per character makes a whole response two-byte. */
export function oneByte(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

import { extname } from 'node:path';
import { KeyFileError, type Read, type Source } from './rows.ts';

const READERS = {
  csv: async () => (await import('./csv.ts')).csvRows,
  ndjson: async () => (await import('./ndjson.ts')).ndjsonRows,
  kong: async () => (await import('./gateways.ts')).kongRows,
  tyk: async () => (await import('./gateways.ts')).tykRows,
  apisix: async () => (await import('./gateways.ts')).apisixRows,
  unkey: async () => (await import('./gateways.ts')).unkeyRows,
} as const satisfies Readonly<Record<string, () => Promise<(source: Source) => AsyncIterable<Read>>>>;

export type Format = keyof typeof READERS;
export const FORMATS = Object.keys(READERS) as Format[];

const BY_NAME: Readonly<Record<string, Format>> = { '.csv': 'csv', '.ndjson': 'ndjson', '.jsonl': 'ndjson' };

/** Throws KeyFileError. */
export function formatOf(file: string): Format {
  const format = BY_NAME[extname(file).toLowerCase()];
  if (format) return format;
  throw new KeyFileError(
    `Unknown format of ${file === '-' ? 'the input' : file}. Use --format with ${FORMATS.join(', ')}.`,
  );
}

export function readerOf(format: Format): Promise<(source: Source) => AsyncIterable<Read>> {
  return READERS[format]();
}

import { extname } from 'node:path';
import { CommandError } from '../connect/api.ts';
import type { Read, Source } from './rows.ts';

export const READERS = {
  csv: async () => (await import('./csv.ts')).csvRows,
  ndjson: async () => (await import('./ndjson.ts')).ndjsonRows,
  kong: async () => (await import('./gateways.ts')).kongRows,
  tyk: async () => (await import('./gateways.ts')).tykRows,
  apisix: async () => (await import('./gateways.ts')).apisixRows,
  unkey: async () => (await import('./gateways.ts')).unkeyRows,
} as const satisfies Readonly<
  Record<string, () => Promise<(source: Source) => AsyncIterable<Read>>>
>;

export type Format = keyof typeof READERS;
export const FORMATS = Object.keys(READERS) as Format[];

const BY_NAME: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

/** Throws CommandError. */
export function formatOf(file: string): Format {
  const format = BY_NAME[extname(file).toLowerCase()];
  if (format) return format;
  const name = file === '-' ? 'the input' : file;
  throw new CommandError(
    `Unknown format of ${name}. Use --format with ${FORMATS.join(', ')}.`,
  );
}

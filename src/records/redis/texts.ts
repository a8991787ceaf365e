import { type KeyRecord, wholeRecord } from '../keys/key.ts';

/** JSON of Redis; `null`: it is not valid. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The record in a text of Redis; `null`: it is not one. */
export function recordIn(text: string): KeyRecord | null {
  const record = parsed(text) as Partial<KeyRecord> | null;
  return typeof record?.id === 'string' && typeof record.hash === 'string'
    ? wholeRecord(record)
    : null;
}

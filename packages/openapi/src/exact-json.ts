/** The value as JSON, every digit kept. */
export const toJson = (value: unknown, indent?: number): string => JSON.stringify(value, exactly, indent);

/** JSON.stringify cannot write a bigint by itself. */
const exactly = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;

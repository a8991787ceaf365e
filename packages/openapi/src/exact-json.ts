export const toJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, exactly, indent);

/** JSON.stringify throws for a bigint. */
const exactly = (_name: string, value: unknown) =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;

/** Names in lower case, values as received. */
export type Headers = Readonly<Record<string, string>>;

/** Swagger UI splits every value at `, `, dates as well as lists. */
export type CutHeaders = Readonly<Record<string, string | readonly string[]>>;

export function asReceived(headers: CutHeaders): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : value.join(', ')]),
  );
}

/** `pointer`: a JSON pointer (RFC 6901). */
export type Fault = {
  readonly in: 'path' | 'query' | 'body';
  readonly pointer: string;
  readonly message: string;
};

/** A code never changes its meaning. */
export class StoreError extends Error {
  override name = 'StoreError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Record<string, string> = {},
    details?: Fault[],
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.body = { code, message, status, details };
  }
}

export function invalidRequest(
  place: Fault['in'],
  faults: readonly Omit<Fault, 'in'>[],
): StoreError {
  const text = faults
    .map(
      ({ pointer, message }) =>
        `${place}${pointer && ` ${pointer}`} ${message}`,
    )
    .join('; ');
  const details = faults.map((fault) => ({ in: place, ...fault }));
  return new StoreError(
    400,
    'invalid_request',
    `The request is not valid: ${text}.`,
    {},
    details,
  );
}

/** The longest int64 has 19 digits. A longer literal is not an identifier and stays a number. */
const INTEGER = /^-?\d{1,19}$/;
const exact = (
  _key: string,
  value: unknown,
  { source = '' }: { readonly source?: string },
) =>
  typeof value === 'number' && INTEGER.test(source) ? BigInt(source) : value;

/** RFC 8259 in UTF-8; integers become `bigint`. @throws StoreError `invalid_request` */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
      exact,
    );
  } catch {
    // Every error of decoder and parser depends on the bytes alone, also for too deep nesting.
    throw invalidRequest('body', [
      { pointer: '', message: 'must be JSON in UTF-8' },
    ]);
  }
}

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, each) =>
    typeof each === 'bigint' ? JSON.rawJSON(String(each)) : each,
  );
}

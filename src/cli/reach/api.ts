/** The admin API, wherever it is: behind a listener, or in this process on the files of a gateway. */
export interface Api {
  /** Answers the body. Throws CallError. */
  call(method: string, path: string, sent?: Sent): Promise<unknown>;
  close(): Promise<void>;
}

export interface Sent {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** The call must not be done twice. */
  readonly idempotencyKey?: string | undefined;
}

/** A call was refused, or nobody answered it; the message says why and what to do. */
export class CallError extends Error {
  override name = 'CallError';
  /** Whether the gateway was not reached, or did not let us in. */
  readonly shut: boolean;

  constructor(message: string, { shut = false, cause }: { shut?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.shut = shut;
  }
}

export function queryOf(query: Sent['query'] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.toString();
}

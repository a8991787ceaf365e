/** Every error code of the store with its HTTP status. A code never changes its meaning. */
const statusOf = {
  invalid_request: 400,
  malformed_request: 400,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  category_in_use: 409,
  insufficient_stock: 409,
  order_exists: 409,
  pet_has_orders: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  id_mismatch: 422,
  pet_required: 422,
  unknown_category: 422,
  unknown_pet: 422,
  ids_exhausted: 500,
  internal_error: 500,
  store_busy: 503,
} as const;

export type ErrorCode = keyof typeof statusOf;

/** One fault of a request: its place, a JSON pointer (RFC 6901) into it, and a message. */
export interface Fault {
  readonly in: 'path' | 'query' | 'body';
  readonly pointer: string;
  readonly message: string;
}

/** The Error object of the contract. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  readonly details?: readonly Fault[];
}

/** Ends a request. Any part of the store may throw it; one place answers it as the Error object. */
export class StoreError extends Error {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: readonly Fault[];

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}, details: Fault[] = []) {
    super(message);
    this.name = 'StoreError';
    this.code = code;
    this.headers = headers;
    this.details = details;
  }

  get status(): number {
    return statusOf[this.code];
  }

  get body(): ErrorBody {
    const { code, message, status, details } = this;
    return details.length > 0 ? { code, message, status, details } : { code, message, status };
  }
}

/** 400 with every fault, so that a caller can correct them all at once. */
export function invalidRequest(faults: Fault[]): StoreError {
  const told = faults.map((fault) => `${fault.in}${fault.pointer && ` ${fault.pointer}`} ${fault.message}`);
  return new StoreError('invalid_request', `The request is not valid: ${told.join('; ')}.`, {}, faults);
}

export function notFound(kind: 'category' | 'order' | 'pet', id: bigint): StoreError {
  return new StoreError('not_found', `There is no ${kind} ${id}.`);
}

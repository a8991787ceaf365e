import {
  createClient,
  type FieldFault,
  headersOf,
  type ParamsOf,
  type Query,
  queryText,
  ROUTES,
  type Role,
} from '@storegate/admin-api';

/**
 * The admin API, by which alone the console knows and does anything. Sessions admit it below this
 * path.
 */
const API = '/console/api';
const SESSION = '/console/session';

export interface Session {
  /** `null`: not signed in. */
  readonly operator: { readonly name: string; readonly role: Role } | null;
  /** Whether sign-in is not needed: a loopback address, and no token was ever set. */
  readonly open: boolean;
  /** Seconds after which who does nothing is signed out. */
  readonly idle: number;
  /** Pages of other systems that operators look at too. */
  readonly links: readonly { readonly title: string; readonly url: string }[];
}

/** Before anybody has signed in, and behind it. */
export const SIGNED_OUT: Session = {
  operator: null,
  open: false,
  idle: 0,
  links: [],
};

/** What the admin API, or the way there, says of a call that failed. */
export class ApiError extends Error {
  readonly code: string;
  /** 0: the gateway did not respond. */
  readonly status: number;
  readonly details: readonly FieldFault[];

  constructor(
    code: string,
    message: string,
    status: number,
    details: readonly FieldFault[] = [],
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
  }
}

/** Milliseconds that a question may take: a gateway that hangs is shown like one that is down. */
const LONGEST = 30_000;
/** Milliseconds in which a call that is made again is the same one, if its response was lost. */
const AGAIN = 120_000;
/** Idempotency-Keys of calls whose response was lost, by what was asked for. */
const lost = new Map<
  string,
  { readonly key: string; readonly until: number }
>();

/** Dispatches an event when a call was refused because the session has ended. */
export const signedOut = new EventTarget();

/** Calls the admin API. Rejects with ApiError; with what `signal` was aborted for. */
export const call = createClient(
  async (method, path, { query, signal, ...options }, isChange) => {
    const { body } = options;
    const url = API + path + searchOf(query);
    const text = body === undefined ? null : JSON.stringify(body);
    // A call that is repeated because its response was lost runs once: it has the same
    // Idempotency-Key.
    const request = `${method} ${url}\n${text}`;
    const key = isChange ? keyOf(request) : undefined;
    const headers = headersOf({ ...options, idempotencyKey: key });
    const inTime = method === 'GET' ? [AbortSignal.timeout(LONGEST)] : [];
    const stop = AbortSignal.any([...(signal ? [signal] : []), ...inTime]);
    try {
      return await sent(url, { method, headers, body: text, signal: stop });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) signedOut.dispatchEvent(new Event('ended'));
      if (error.status !== 0 || key === undefined) throw error;
      lost.set(request, { key, until: Date.now() + AGAIN });
      throw new ApiError(
        error.code,
        'The gateway does not respond, and the change may have been made. Repeat it within 2 minutes: it is made once.',
        0,
      );
    }
  },
);

function keyOf(request: string): string {
  const before = lost.get(request);
  lost.delete(request);
  return before !== undefined && Date.now() < before.until
    ? before.key
    : newKey();
}

/** Browsers give `randomUUID` to no page without TLS on another machine. */
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

/** The address of a report as CSV, for a link. */
export const usageDownload = (query: ParamsOf<'getUsageReport'>): string =>
  API + ROUTES.getUsageReport[1] + searchOf({ ...query, format: 'csv' });

export const whoIsSignedIn = () => sent<Session>(SESSION, { method: 'GET' });
export const signIn = (token: string) =>
  sent<Session>(SESSION, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  });
export const signOut = () => sent<Session>(SESSION, { method: 'DELETE' });

async function sent<T>(url: string, init: RequestInit): Promise<T> {
  const response = await fetched(url, init);
  const body: unknown = await response.json().catch(() => null);
  // An incomplete response is not valid; 204 has no body.
  if (response.ok && body === null && response.status !== 204)
    throw noResponse();
  if (response.ok) return body as T;
  throw refusalIn(response, body);
}

async function fetched(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, {
      ...init,
      cache: 'no-store',
      credentials: 'same-origin',
    });
  } catch (error) {
    if (init.signal?.aborted && init.signal.reason.name !== 'TimeoutError')
      throw error;
    throw noResponse();
  }
}

const noResponse = () =>
  new ApiError(
    'no_response',
    'The gateway does not respond. It may be stopped, or unreachable.',
    0,
  );

function refusalIn(response: Response, body: unknown): ApiError {
  const { code, message, details } = (body ?? {}) as Partial<ApiError>;
  const text = message ?? `The gateway responded with ${response.status}.`;
  return new ApiError(code ?? 'no_response', text, response.status, details);
}

/** A query with its question mark; without values that are undefined or empty. */
export function searchOf(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const text = queryText(Object.fromEntries(given));
  return text && `?${text}`;
}

/** The input of a route. Its parts are as the caller wrote them; the route reads them with its own shapes. */
export interface StoreRequest {
  readonly path: string;
  /** Path parameters by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed JSON of a POST or PUT; otherwise `undefined`. */
  readonly body: unknown;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written as JSON; no body if it is missing. */
  readonly body?: unknown;
}

export type Answer = (request: StoreRequest) => Reply;
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One path, with its parameters in braces as in the contract, and the handler of each method. */
export interface Route {
  readonly path: string;
  readonly methods: Readonly<Partial<Record<Method, Answer>>>;
}

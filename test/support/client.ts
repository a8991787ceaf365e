import { once } from 'node:events';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { failure } from './failure.ts';

export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Of a response with JSON; `{}` of any other. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered.
  readonly body: any;
}

type Headers = Readonly<Record<string, string>>;

const kept = new Agent({ keepAlive: true });

/**
 * One request, on a connection that earlier ones may have used. A server may close such a
 * connection just when the request is sent, which then was not read.
 */
export async function send(
  url: string,
  options: RequestOptions & { readonly body?: string | undefined } = {},
): Promise<Response> {
  const { body } = options;
  const sent = request(url, { agent: kept, ...options });
  if (body !== undefined) sent.setHeader('Content-Length', Buffer.byteLength(body));
  sent.end(body);
  let received: IncomingMessage;
  try {
    [received] = await once(sent, 'response');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (sent.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE'))
      return await send(url, options);
    throw error;
  }
  const content = await text(received);
  const isJson = /[/+]json\b/.test(received.headers['content-type'] ?? '');
  return {
    status: received.statusCode!,
    headers: received.headers as Headers,
    text: content,
    body: isJson && content !== '' ? JSON.parse(content) : {},
  };
}

/** A request that is sent when it is awaited. */
class Draft implements PromiseLike<Response> {
  readonly #url: string;
  readonly #method: string;
  readonly #headers: Record<string, string> = {};
  #body: string | undefined;
  #status: number | undefined;

  constructor(url: string, method: string) {
    this.#url = url;
    this.#method = method;
  }

  set(...added: [name: string, value: string] | [headers: Headers]): this {
    Object.assign(this.#headers, added.length === 2 ? { [added[0]]: added[1] } : added[0]);
    return this;
  }

  send(value: unknown): this {
    this.#body = JSON.stringify(value);
    return this.set('Content-Type', 'application/json');
  }

  expect(status: number): this {
    this.#status = status;
    return this;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting it sends it.
  then: Promise<Response>['then'] = (...handlers) => this.#sent().then(...handlers);

  async #sent(): Promise<Response> {
    const options = { method: this.#method, headers: this.#headers };
    const response = await send(this.#url, { ...options, body: this.#body });
    const { status, text } = response;
    if (this.#status !== undefined && status !== this.#status)
      throw failure(`answered ${status}, not ${this.#status}: ${text}`);
    return response;
  }
}

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'] as const;

export type Client = Record<(typeof METHODS)[number], (path: string) => Draft>;

/** Has the interface of supertest that suites use, at a tenth of its CPU time. */
export function clientOf(url: string): Client {
  return Object.fromEntries(
    METHODS.map((name) => [name, (path: string) => new Draft(url + path, name.toUpperCase())]),
  ) as Client;
}

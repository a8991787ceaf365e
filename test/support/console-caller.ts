import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';

export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered.
  readonly body: any;
}

export const OWN = { 'Sec-Fetch-Site': 'same-origin' };
const JSON_BODY = { 'Content-Type': 'application/json' };

export class ConsoleCaller {
  readonly url: string;
  cookie = '';

  constructor(url: string) {
    this.url = url;
  }

  /** Sends exactly these fields, besides Host and the cookie. */
  async ask(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders = {},
    body?: string,
  ): Promise<ConsoleAnswer> {
    const { hostname, port } = new URL(this.url);
    const own = { ...(this.cookie && { Cookie: this.cookie }), Connection: 'close', ...headers };
    const sent = request({ hostname, port, method, path, headers: own });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += chunk;
    const json = response.headers['content-type']?.includes('json') && text !== '';
    return {
      status: response.statusCode!,
      headers: response.headers,
      text,
      body: json ? JSON.parse(text) : null,
    };
  }

  call(method: string, path: string, body?: unknown): Promise<ConsoleAnswer> {
    const headers = body === undefined ? OWN : { ...OWN, ...JSON_BODY };
    return this.ask(
      method,
      `/console/api${path}`,
      headers,
      body === undefined ? undefined : JSON.stringify(body),
    );
  }

  async signIn(token: string): Promise<ConsoleAnswer> {
    const response = await this.ask(
      'POST',
      '/console/session',
      { ...OWN, ...JSON_BODY },
      JSON.stringify({ token }),
    );
    const [set] = response.headers['set-cookie'] ?? [];
    if (set !== undefined) this.cookie = set.split(';', 1)[0]!;
    return response;
  }

  /** `null` if not signed in. Counts as a use. */
  async who(): Promise<string | null> {
    return (await this.ask('GET', '/console/session', OWN)).body.operator?.name ?? null;
  }
}

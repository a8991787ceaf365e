import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { Response } from './client.ts';

/** Sends what other clients change or refuse: odd paths, Expect, repeated headers. */
export async function plainRequest(url: string, options: RequestOptions): Promise<Response> {
  const { hostname, port } = new URL(url);
  const sent = request({ hostname, port, ...options }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += chunk;
  return {
    status: response.statusCode,
    headers: response.headers,
    text,
    body: JSON.parse(text),
  } as unknown as Response;
}

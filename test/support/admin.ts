import { expect } from '@jest/globals';
import { adminContract } from '../../src/admin/api.ts';
import { type Response, send } from './client.ts';

/** Gateways of this process have it too, so that none compiles it in a thread. */
const contract = adminContract();

export type AdminCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Response>;

/** Checks every response against the contract of the admin API. */
export function adminOf(url: string, own: Readonly<Record<string, string>> = {}): AdminCall {
  return async (method, path, body, headers = {}) => {
    const response = await send(`${url}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...own,
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const match = contract.match(method, path.replace(/\?.*/, ''));
    const type = response.headers['content-type'];
    if (match.operation)
      expect(
        match.operation.checkResponse(response.status, type, Buffer.from(response.text)),
      ).toEqual([]);
    return response;
  };
}

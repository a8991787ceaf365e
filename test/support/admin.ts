import { expect } from '@jest/globals';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import { loadContract } from '@storegate/openapi';
import { type Response, send } from './client.ts';

const contract = loadContract(ADMIN_CONTRACT);

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

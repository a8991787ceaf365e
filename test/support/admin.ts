import { expect } from '@jest/globals';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import { loadContract } from '@storegate/openapi';

const contract = loadContract(ADMIN_CONTRACT);

export interface AdminResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered.
  readonly body: any;
  readonly headers: Headers;
}

export type AdminCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<AdminResponse>;

/**
 * Checks every response against the contract of the admin API. Each call has a new connection: on a
 * busy machine the listener may close an idle one just when the next call uses it.
 */
export function adminOf(url: string, own: Readonly<Record<string, string>> = {}): AdminCall {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        Connection: 'close',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...own,
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const match = contract.match(method, path.replace(/\?.*/, ''));
    const type = response.headers.get('content-type') ?? undefined;
    if (match.operation)
      expect(match.operation.checkResponse(response.status, type, Buffer.from(text))).toEqual([]);
    return { status: response.status, body: JSON.parse(text), headers: response.headers };
  };
}

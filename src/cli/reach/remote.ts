import { encodeShellUser, SHELL_USER_HEADER } from '../../operators/shell-user.ts';
import { type Api, CallError, headersOf, queryOf, type Sent } from './api.ts';

/** The longest wait for an answer, in milliseconds. */
const PATIENCE = 30_000;

/** The admin listener of a running gateway. `user`: name of who calls, which counts with the token of the gateway's run only. */
export function reachRemote(url: string, token: string | null, user: string | null = null): Api {
  if (!/^https?:\/\/[^\s?#]+$/.test(url) || !URL.canParse(url)) {
    throw new CallError(`${JSON.stringify(url)} is no address of an admin listener, such as http://127.0.0.1:9901`);
  }
  const base = url.replace(/\/+$/, '');

  async function send(method: string, path: string, sent: Sent): Promise<Response> {
    const { query, body } = sent;
    const search = queryOf(query);
    const headers: Record<string, string> = { Accept: 'application/json', ...headersOf(sent) };
    if (token !== null) headers.Authorization = `Bearer ${token}`;
    if (user !== null) headers[SHELL_USER_HEADER] = encodeShellUser(user);
    try {
      return await fetch(`${base}${path}${search && `?${search}`}`, {
        method,
        headers,
        redirect: 'error',
        signal: AbortSignal.timeout(PATIENCE),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch (cause) {
      throw new CallError(`cannot reach the gateway at ${base}: ${reasonOf(cause)}`, { shut: true, cause });
    }
  }

  return {
    async call(method, path, sent = {}) {
      const response = await send(method, path, sent);
      const answer = await bodyOf(response, base);
      if (response.ok) return answer;
      const { message } = answer as { message?: unknown };
      if (typeof message !== 'string') throw new CallError(`${base} is no admin listener of storegate`, { shut: true });
      throw new CallError(message, { shut: response.status === 401 || response.status === 429 });
    },
    // An idle connection keeps no process alive.
    close: async () => {},
  };
}

async function bodyOf(response: Response, base: string): Promise<unknown> {
  try {
    return Object(await response.json());
  } catch (cause) {
    throw new CallError(`${base} is no admin listener of storegate: its answer is no JSON`, { shut: true, cause });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (error.name === 'TimeoutError') return 'it did not answer in time';
  if (cause instanceof Error) return cause.message || ((cause as NodeJS.ErrnoException).code ?? cause.name);
  return error.message;
}

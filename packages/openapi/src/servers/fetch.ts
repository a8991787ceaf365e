import type { Fault } from '../faults.ts';
import type { Operation, RequestResult, Validators } from '../types.ts';
import { type BodyLimit, collect, refusalOf, TOO_LARGE } from './bodies.ts';

interface FetchOptions<Op> extends BodyLimit {
  /**
   * Gets the faults of each response, which is read whole before it is returned. Without it
   * responses are not checked, and streams arrive as they are sent.
   */
  readonly onResponse?: (
    faults: readonly Fault[],
    operation: Op | null,
  ) => void;
}

/**
 * For Bun, Deno, Hono, Next.js and others: `handle` gets only requests that match, with an unread
 * body. With `fetch` as `handle` it checks what a client sends.
 */
export function fetchHandler<Op extends Operation>(
  contract: Validators<Op>,
  handle: (
    request: Request,
    result: RequestResult<Op>,
  ) => Response | Promise<Response>,
  { maxBodyBytes, onResponse }: FetchOptions<Op> = {},
) {
  return async (request: Request): Promise<Response> => {
    const { method, url, headers } = request;
    const body = await collect(piecesOf(request), maxBodyBytes);
    const result =
      body === null
        ? TOO_LARGE
        : await contract.validateRequestAsync({
            method,
            url: new URL(url),
            headers,
            body,
          });
    if (result.status !== 200) {
      const { headers, body } = refusalOf(result);
      return new Response(body, { status: result.status, headers });
    }
    const response = await handle(request, result);
    if (onResponse === undefined) return response;
    const { faults, operation } = await contract.validateResponseAsync({
      method,
      url: new URL(url),
      status: response.status,
      headers: response.headers,
      body: await collect(piecesOf(response), Number.POSITIVE_INFINITY),
    });
    onResponse(faults, operation);
    return response;
  };
}

/** Without `preventCancel`, to stop reading would wait for the reader of the other copy. */
const piecesOf = (message: Request | Response) =>
  message.clone().body?.values({ preventCancel: true }) ?? null;

import type { Readable } from 'node:stream';
import type { Operation, RequestResult, Validators } from '../types.ts';
import { type BodyLimit, collect, refusalOf, TOO_LARGE } from './bodies.ts';

/** Of Express, or of Node. */
interface ExpressRequest extends Readable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string;
  readonly rawHeaders: readonly string[];
  body?: unknown;
  openapi?: unknown;
}

interface ExpressResponse {
  writeHead(
    status: number,
    headers: Readonly<Record<string, string>>,
  ): { end(body: string): unknown };
}

/**
 * Refuses requests that do not match. The next handlers find the `RequestResult` in
 * `request.openapi`, and the parsed body in `request.body` (a Buffer if it is not parsed). Use it
 * before, or in place of, `express.json()`.
 */
export function expressMiddleware<Op extends Operation>(
  contract: Pick<Validators<Op>, 'validateRequestAsync'>,
  { maxBodyBytes }: BodyLimit = {},
) {
  async function check(request: ExpressRequest): Promise<RequestResult<Op>> {
    if (request.readableDidRead)
      throw new TypeError(
        'the body was read before; use the middleware before express.json()',
      );
    const { method = '', originalUrl, url, rawHeaders: headers } = request;
    // A request that is destroyed has no response.
    const pieces = request.iterator({ destroyOnReturn: false });
    const body = await collect(pieces, maxBodyBytes);
    if (body === null) return TOO_LARGE;
    const target = originalUrl ?? url ?? '';
    const message = { method, url: target, headers, body };
    const result = await contract.validateRequestAsync(message);
    request.body = result.values?.body ?? body;
    request.openapi = result;
    return result;
  }

  return async (
    request: ExpressRequest,
    response: ExpressResponse,
    next: (error?: unknown) => void,
  ): Promise<void> => {
    try {
      const result = await check(request);
      if (result.status === 200) return next();
      const { headers, body } = refusalOf(result);
      response.writeHead(result.status, headers).end(body);
    } catch (error) {
      next(error);
    }
  };
}

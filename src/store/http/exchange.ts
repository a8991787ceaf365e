import type { IncomingMessage, ServerResponse } from 'node:http';
import { isBusy } from '../database.ts';
import { StoreError } from '../errors.ts';
import { toJson } from '../json.ts';
import type { StoreLog } from '../log.ts';
import { readBody } from './body.ts';
import type { Router } from './router.ts';
import type { Reply } from './routes.ts';

/** The parts of the server that an exchange needs. */
export interface Surroundings {
  readonly route: Router;
  readonly log: StoreLog;
  isClosing(): boolean;
}

/** Answers one request exactly once in every case, and logs it. */
export async function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  { route, log, isClosing }: Surroundings,
): Promise<void> {
  const started = performance.now();
  const { method = '', url = '' } = request;
  const target = readTarget(url);
  const path = target?.pathname ?? '';
  try {
    send(response, await answer(request, target, route), isClosing());
  } catch (error) {
    // If a caller leaves in the middle of its body, the store has no fault, and nobody reads an answer.
    if (request.destroyed && !request.complete) return log({ type: 'left', method, path });
    const refusal = toStoreError(error);
    if (refusal.status === 500) log({ type: 'failed', method, path, error });
    send(response, { status: refusal.status, headers: refusal.headers, body: refusal.body }, isClosing());
  }
  // Drops the rest of a refused body as it comes: closing while the caller still writes could lose the answer.
  request.resume();
  log({ type: 'answered', method, path, status: response.statusCode, milliseconds: performance.now() - started });
}

async function answer(request: IncomingMessage, target: URL | null, route: Router): Promise<Reply> {
  if (target === null) throw new StoreError('malformed_request', 'The target of the request is not a path.');
  const { method, params, answer: toReply } = route(request.method ?? '', target.pathname);
  const body = method === 'POST' || method === 'PUT' ? await readBody(request) : undefined;
  return toReply({ path: target.pathname, params, query: target.searchParams, body });
}

/** A request target starts with a slash, or is a whole URL (RFC 9112, section 3.2). */
function readTarget(target: string): URL | null {
  return URL.parse(target.startsWith('/') ? `http://store${target}` : target);
}

function send(response: ServerResponse, { status, headers, body }: Reply, isLast: boolean): void {
  const bytes = body === undefined ? undefined : Buffer.from(toJson(body));
  response.writeHead(status, {
    ...headers,
    ...(isLast && { Connection: 'close' }),
    ...(bytes && { 'Content-Type': 'application/json', 'Content-Length': bytes.length }),
  });
  response.end(bytes);
}

function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (isBusy(error))
    return new StoreError('store_busy', 'The store is busy. Try again in a moment.', { 'Retry-After': '1' });
  return new StoreError('internal_error', 'Something went wrong in the store.');
}

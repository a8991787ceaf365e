import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import querystring from 'node:querystring';
import type { Duplex } from 'node:stream';
import {
  int64,
  int64Range,
  paging,
  readFields,
  readQuery,
  type Shape,
  toCursor,
  written,
} from './checks.ts';
import { openDatabase, transaction } from './database.ts';
import { invalidRequest, parseJson, StoreError, toJson } from './errors.ts';
import { createRecords } from './records.ts';

// Importing node:http loads undici, 14 MB.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

export const MAX_BODY_BYTES = 1024 * 1024;
/**
 * Milliseconds. Idle connections outlive those of the gateway's pool, so that it never writes to a
 * closing one.
 */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
};

export interface StoreOptions {
  readonly file: string;
  readonly firstId?: bigint;
  readonly failed?: (error: Error) => void;
}

type Reply = {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
};

export type Store = ReturnType<typeof createStore>;

/** Does not listen yet. @throws Error with one sentence if the database cannot be used. */
export function createStore({
  file,
  firstId = 1n,
  failed = process.emitWarning,
}: StoreOptions) {
  const db = openDatabase(file);
  const records = createRecords(db, firstId);
  const inFlight = new Set<Promise<void>>();
  let closed: Promise<void> | undefined;
  const server = createServer(TIMEOUTS, (request, response) => {
    const exchanged = exchange(request, response).finally(() =>
      inFlight.delete(exchanged),
    );
    inFlight.add(exchanged);
    request.once('close', () => {
      // The response was sent before the body had arrived and before the store was closing, so
      // nothing else ends this connection.
      if (!server.listening && response.writableFinished)
        request.socket.destroySoon();
    });
  }).on('clientError', refuseMalformed);

  async function exchange(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { status, headers, body } = await answer(request).catch(
      (error: unknown): Reply => {
        if (error instanceof StoreError) return error;
        // SQLITE_BUSY and its extended codes: another process held the file for too long.
        if ((Object(error).errcode & 0xff) === 5)
          return new StoreError(
            503,
            'store_busy',
            'The store is busy. Try again in a moment.',
            {
              'Retry-After': '1',
            },
          );
        // A client that disconnects during its body is not a failure of the store.
        if (request.complete || !request.destroyed) failed(error as Error);
        return new StoreError(
          500,
          'internal_error',
          'Something went wrong in the store.',
        );
      },
    );
    const bytes = body === undefined ? undefined : Buffer.from(toJson(body));
    response.writeHead(status, {
      ...headers,
      ...(!server.listening && { Connection: 'close' }),
      ...(bytes && {
        'Content-Type': 'application/json',
        'Content-Length': bytes.length,
      }),
    });
    response.end(bytes);
    // Drops the rest of a refused body: closing while the client still writes could lose the
    // response.
    request.resume();
  }

  async function answer(request: IncomingMessage): Promise<Reply> {
    const { method = '', url = '' } = request;
    // A request target starts with a slash, or is a whole URL (RFC 9112 section 3.2).
    const target = URL.parse(url.startsWith('/') ? `http://store${url}` : url);
    if (target === null)
      throw new StoreError(
        400,
        'malformed_request',
        'The target of the request is not a path.',
      );
    const answers = answersAt(target, Object.values(records));
    const answered = answers[method === 'HEAD' ? 'GET' : method];
    if (answered !== undefined) {
      const body =
        method === 'POST' || method === 'PUT'
          ? await readBody(request)
          : undefined;
      return method !== 'GET' && method !== 'HEAD'
        ? transaction(db, () => answered(body))
        : answered(body);
    }
    const Allow = Object.keys(answers).join(', ').replace('GET', 'GET, HEAD');
    throw new StoreError(
      405,
      'method_not_allowed',
      `This path does not answer ${method}, only ${Allow}.`,
      { Allow },
    );
  }

  async function close(): Promise<void> {
    const cutOff = setTimeout(() => server.closeAllConnections(), 10_000);
    if (server.listening) await server[Symbol.asyncDispose]();
    clearTimeout(cutOff);
    await Promise.all(inFlight);
    db.close();
  }

  return {
    records,
    transaction: <T>(work: () => T): T => transaction(db, work),
    /**
     * Port 0 lets the system choose. @throws Error with one sentence if the address is not
     * available.
     */
    async listen({
      host,
      port,
    }: {
      readonly host: string;
      readonly port: number;
    }) {
      if (closed)
        throw new Error('The store is closed and cannot listen again.');
      await once(server.listen(port, host), 'listening').catch(
        (cause: Error) => {
          throw new Error(
            `The store cannot listen on ${host}:${port}: ${cause.message}.`,
            { cause },
          );
        },
      );
      const { port: taken, address, family } = server.address() as AddressInfo;
      return {
        port: taken,
        url: `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`,
      };
    },
    close: (): Promise<void> => (closed ??= close()),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the fields are those that the shape has read, and entries go out as they are
type Act = (...given: any[]) => any;
type Resource = Record<'list' | 'get' | 'replace', Act> &
  Partial<Record<'add' | 'remove', Act>> & {
    path: string;
    idName: string;
    filters?: Shape;
    body: Shape;
  };

/** GET also serves HEAD. @throws StoreError `not_found` */
function answersAt(
  target: URL,
  resources: readonly Resource[],
): Record<string, (body: unknown) => Reply> {
  const { pathname } = target;
  if (pathname === '/health')
    return { GET: () => ({ status: 200, body: { status: 'ok' } }) };
  const list = resources.find(({ path }) => path === pathname);
  if (list !== undefined) {
    const { path, body: shape, add } = list;
    const POST = (body: unknown): Reply => {
      const entry = add!(readFields('body', body, shape));
      return {
        status: 201,
        headers: { Location: `${path}/${entry.id}` },
        body: entry,
      };
    };
    return { GET: () => pageOf(list, target), ...(add && { POST }) };
  }
  const [, parent, segment] = /^(.*)\/([^/]+)$/.exec(pathname) ?? [];
  const found = resources.find(({ path }) => path === parent);
  if (found === undefined)
    throw new StoreError(404, 'not_found', 'There is nothing at this path.');
  const { idName, body: shape, get, replace, remove } = found;
  const id = () =>
    readFields(
      'path',
      { [idName]: querystring.unescape(segment!) },
      { [idName]: written(int64) },
    )[idName];
  const DELETE = (): Reply => {
    remove!(id());
    return { status: 204 };
  };
  return {
    GET: () => ({ status: 200, body: get(id()) }),
    PUT: (body) => ({
      status: 200,
      body: replace(id(), readFields('body', body, shape)),
    }),
    ...(remove && { DELETE }),
  };
}

/** The body is an array, so the headers `Link` and `X-Next-Cursor` name the next page. */
function pageOf(
  { list, filters: shape }: Resource,
  { pathname, searchParams }: URL,
): Reply {
  const {
    limit = 20n,
    cursor: from = int64Range.least,
    ...filters
  } = readQuery(searchParams, { ...paging, ...shape });
  const entries = list({ from, size: limit + 1n }, filters);
  const next = entries[Number(limit)];
  if (next === undefined) return { status: 200, body: entries };
  const following = new URLSearchParams(searchParams);
  following.set('cursor', toCursor(next.id ?? next.petId));
  // Commas stay plain: the contract separates the values of `ids` with them, and an encoded comma
  // would be data.
  const Link = `<${pathname}?${following.toString().replaceAll('%2C', ',')}>; rel="next"`;
  return {
    status: 200,
    headers: { Link, 'X-Next-Cursor': following.get('cursor')! },
    body: entries.slice(0, -1),
  };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const {
    'content-type': type = '',
    'content-encoding': coding = 'identity',
    ...headers
  } = request.headers;
  if (
    Number(headers['content-length'] ?? 0) === 0 &&
    headers['transfer-encoding'] === undefined
  )
    throw invalidRequest('body', [{ pointer: '', message: 'is required' }]);
  if (
    !/^application\/json *(;|$)/i.test(type) ||
    coding.toLowerCase() !== 'identity'
  ) {
    const message =
      'The body must be application/json, without a content coding.';
    throw new StoreError(415, 'unsupported_media_type', message);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving this loop early would destroy the connection before the refusal is written.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES)
      throw new StoreError(
        413,
        'payload_too_large',
        `The body may have at most ${MAX_BODY_BYTES} bytes.`,
      );
    chunks.push(chunk);
  }
  return parseJson(Buffer.concat(chunks, size));
}

/**
 * Bytes that are not HTTP, or an incomplete head, never become a request; they get an Error object
 * all the same.
 */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET')
    return void socket.destroy();
  const { status, body } =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new StoreError(
          408,
          'request_timeout',
          'The request did not arrive in time.',
        )
      : new StoreError(
          400,
          'malformed_request',
          'This is not an HTTP request the store can read.',
        );
  const json = toJson(body);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json`;
  socket.end(
    `${head}\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
}

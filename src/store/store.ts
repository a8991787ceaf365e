import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import {
  type Entry,
  type Given,
  type Resource,
  resourcesIn,
} from './resources.ts';
import { SCHEMA } from './schema.ts';

// Importing node:http loads undici, 14 MB.
const { createServer } = process.getBuiltinModule('node:http');

/** Milliseconds: longer than in the gateway's pool, which never writes to a closing connection. */
const KEEP_ALIVE = 65_000;
const CLOSING = 10_000;

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
}

export type Store = ReturnType<typeof createStore>;

/** Does not listen yet. Throws if the database cannot be used. */
export function createStore(file: string) {
  const db = new DatabaseSync(file, {
    allowUnknownNamedParameters: true,
    // Short, because statements run on the event loop.
    timeout: 250,
  });
  db.exec(SCHEMA);
  const resources = resourcesIn(db);
  let closed: Promise<void> | undefined;
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE },
    (request, response) => void exchange(request, response),
  );

  async function exchange(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    try {
      const body = await text(request);
      const { status, headers, body: json }: Reply = replyTo(request, body);
      response.writeHead(status, {
        ...headers,
        ...(!server.listening && { Connection: 'close' }),
        ...(json && {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(json),
        }),
      });
      response.end(json);
    } catch {
      // The client disconnected during its body.
      response.destroy();
    }
  }

  function replyTo(request: IncomingMessage, body: string): Reply {
    try {
      return reply(request, body);
    } catch (cause) {
      const { message } = cause as Error;
      const [, status, code, text] = /^(\d{3}) (\w+) (.+)$/.exec(message) ?? [];
      if (text !== undefined) return refusal(Number(status), code!, text);
      process.emitWarning(cause as Error);
      return refusal(
        500,
        'internal_error',
        'Something went wrong in the store.',
      );
    }
  }

  function reply({ method = '', url = '' }: IncomingMessage, body: string) {
    const { pathname, searchParams } = new URL(url, 'http://store');
    const [, parent, id = ''] = /^(.+)\/([^/]+)$/.exec(pathname) ?? [];
    const whole = resources.find(({ path }) => path === pathname);
    const one = resources.find(({ path }) => path === parent);
    const given = { id: decodeURIComponent(id), body };
    const operations: Acts | undefined =
      pathname === '/health'
        ? { GET: () => ({ status: 200, body: '{"status":"ok"}' }) }
        : whole
          ? onAll(whole, given, searchParams)
          : one && onOne(one, given);
    if (!operations)
      return refusal(404, 'not_found', 'There is nothing at this path.');
    const act = operations[method === 'HEAD' ? 'GET' : method];
    if (act) return act();
    const Allow = Object.keys(operations)
      .join(', ')
      .replace('GET', 'GET, HEAD');
    const message = `This path does not support ${method}, only ${Allow}.`;
    return refusal(405, 'method_not_allowed', message, { Allow });
  }

  async function close(): Promise<void> {
    const cutOff = setTimeout(() => server.closeAllConnections(), CLOSING);
    if (server.listening) await server[Symbol.asyncDispose]();
    clearTimeout(cutOff);
    db.close();
  }

  return {
    db,
    /** Port 0 lets the system choose. Rejects if the address is not available. */
    async listen({ host, port }: { host: string; port: number }) {
      await once(server.listen(port, host), 'listening');
      const { port: taken, address, family } = server.address() as AddressInfo;
      const name = family === 'IPv6' ? `[${address}]` : address;
      return { url: `http://${name}:${taken}` };
    },
    close: (): Promise<void> => (closed ??= close()),
  };
}

type Acts = Readonly<Record<string, () => Reply>>;

/** GET also serves HEAD. */
function onAll(
  { path, list, add }: Resource,
  given: Given,
  query: URLSearchParams,
): Acts {
  const GET = () => pageOf(list, path, query);
  if (!add) return { GET };
  const POST = () => {
    const entry = add(given);
    if (!entry)
      return refusal(
        409,
        'order_exists',
        'There already is an order with this id.',
      );
    const Location = `${path}/${entry.id}`;
    return { status: 201, headers: { Location }, body: entry.json };
  };
  return { GET, POST };
}

function onOne({ kind, get, replace, remove }: Resource, given: Given): Acts {
  const missing = `The ${kind} ${given.id} does not exist.`;
  const having =
    (act: typeof get, status = 200) =>
    () => {
      const entry = act(given);
      if (!entry) return refusal(404, 'not_found', missing);
      return { status, ...(status === 200 && { body: entry.json }) };
    };
  const operations = { GET: having(get), PUT: having(replace) };
  return remove ? { ...operations, DELETE: having(remove, 204) } : operations;
}

/** The body is an array, so the headers `Link` and `X-Next-Cursor` name the next page. */
function pageOf(
  list: (given: Given) => Entry[],
  path: string,
  query: URLSearchParams,
): Reply {
  const absent = { cursor: null, status: null, categoryId: null, ids: null };
  const { limit = '20', ...given } = Object.fromEntries(query);
  // The contract lets a cursor be any text.
  if (!/^-?\d{1,19}$/.test(given.cursor ?? '0'))
    return refusal(400, 'invalid_request', 'The cursor is not of this list.');
  const entries = list({ ...absent, ...given, limit });
  const next = entries[Number(limit)];
  const body = (page: readonly Entry[]) =>
    `[${page.map(({ json }) => json).join(',')}]`;
  if (next === undefined) return { status: 200, body: body(entries) };
  query.set('cursor', next.id);
  // Commas stay plain: the contract separates the values of `ids` with them, and an encoded comma
  // would be data.
  const following = query.toString().replaceAll('%2C', ',');
  return {
    status: 200,
    headers: {
      Link: `<${path}?${following}>; rel="next"`,
      'X-Next-Cursor': next.id,
    },
    body: body(entries.slice(0, -1)),
  };
}

function refusal(
  status: number,
  code: string,
  message: string,
  headers: Reply['headers'] = {},
): Reply {
  return { status, headers, body: JSON.stringify({ code, message, status }) };
}

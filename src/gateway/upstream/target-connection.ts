import type {
  Agent as HttpAgent,
  IncomingMessage,
  ClientRequest as ProxyRequest,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { EMPTY, type openerTo } from '@storegate/http1';

// Importing node:http loads undici, 14 MB.
const { Agent } = process.getBuiltinModule('node:http');

/** Higher than the limits of packages/http1, which decide. */
export const MOST_HEAD_BYTES: number = 128 * 1024;

interface TargetConnectionParts {
  readonly open: ReturnType<typeof openerTo>;
  readonly receive: (bytes: Buffer) => void;
  readonly connected: (far: Duplex) => void;
}

/**
 * A connection to a target, and the pair of streams over which the gateway calls the library that
 * uses it. All three end together, but what the target has sent is read first.
 */
export function createTargetConnection({
  open,
  receive,
  connected,
}: TargetConnectionParts) {
  const [near, far] = duplexPair();
  /** `null` between two requests. */
  let response: ServerResponse | null = null;
  let hasBegun = false;
  let outgoing: ProxyRequest | null = null;
  let answer: IncomingMessage | null = null;
  let path = '';
  let fields: readonly string[] = [];
  const socket = open(received, () => connected(far));
  const agent = agentOf(socket);
  near.on('data', receive).once('close', () => {
    far.destroy();
    socket.destroy();
  });
  far.once('close', () => near.destroy());
  socket
    .on('error', fail)
    .once('end', ended)
    .once('close', () => {
      ended();
      if (answer === null) fail(new Error('The connection was closed.'));
    });

  return {
    near,
    far,
    agent,
    /** The library gets neither path nor fields, because it would change them. */
    begin(request: IncomingMessage, next: ServerResponse): void {
      response = next;
      hasBegun = false;
      answer = null;
      path = request.url!;
      fields = request.rawHeaders;
      request.url = '/';
      request.headers = {};
      next.once('finish', () => {
        if (response !== next) return;
        response = null;
        if (socket.readableEnded || socket.destroyed) ended();
      });
    },
    send(next: ProxyRequest): void {
      outgoing = next;
      for (const name of next.getHeaderNames()) next.removeHeader(name);
      for (const [name, values] of linesByName(fields))
        next.setHeader(name, values);
      next.path = path;
    },
    /** Throws for a response that is not valid. */
    answered(next: IncomingMessage): void {
      const { shouldKeepAlive } = outgoing!;
      answer = next;
      const to = response!;
      to.sendDate = false;
      to.shouldKeepAlive = shouldKeepAlive;
      // Otherwise the server adds a line.
      if (shouldKeepAlive) to.removeHeader('Connection');
      to.writeHead(
        next.statusCode!,
        next.statusMessage!,
        writable(next.rawHeaders),
      );
      next.pipe(to);
      // Node would wait for the body, but a head and a body that come together are sent as one.
      process.nextTick(() => {
        if (!next.readableDidRead) to.flushHeaders();
      });
    },
    fail,
  };

  /** A response that is complete still passes. */
  function fail(error?: Error): void {
    if (answer?.complete !== true) near.destroy(error);
  }

  /** Unsolicited bytes must not become the next response. */
  function received(bytes: Buffer): void {
    if (response === null) socket.destroy();
    else if (!hasBegun && bytes.length > 0) {
      hasBegun = true;
      receive(EMPTY);
    }
  }

  function ended(): void {
    if (response === null) far.end();
  }
}

export type TargetConnection = ReturnType<typeof createTargetConnection>;

/**
 * In the order of the first line of each name, and in its spelling: Node sends lines of one name
 * together.
 */
function linesByName(
  fields: readonly string[],
): Iterable<readonly [name: string, values: string[]]> {
  const lines = new Map<string, readonly [name: string, values: string[]]>();
  for (let i = 0; i < fields.length; i += 2) {
    const [name, value] = [fields[i]!, fields[i + 1]!];
    const known = lines.get(name.toLowerCase());
    if (known === undefined) lines.set(name.toLowerCase(), [name, [value]]);
    else known[1].push(value);
  }
  return lines.values();
}

/**
 * Behind Content-Length, Node rewrites Content-Disposition. Trailers are dropped, so none may be
 * announced.
 */
function writable(fields: readonly string[]): string[] {
  const lines: string[] = [];
  const lengths: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!.toLowerCase();
    if (name !== 'trailer')
      (name === 'content-length' ? lengths : lines).push(
        fields[i]!,
        fields[i + 1]!,
      );
  }
  return [...lines, ...lengths];
}

/** Node requires `addRequest` of an agent, but does not document it. */
type AnyAgent = HttpAgent & {
  addRequest(request: ProxyRequest, options: unknown): void;
};

/** Of this connection alone. */
function agentOf(socket: Duplex): HttpAgent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 }) as AnyAgent;
  const addRequest = agent.addRequest.bind(agent);
  let isTaken = false;
  // The library has no options for these limits. Node drops fields above the second without a word.
  agent.addRequest = (request, options) => {
    addRequest(
      Object.assign(request, {
        maxHeaderSize: MOST_HEAD_BYTES,
        maxHeadersCount: 0,
      }),
      options,
    );
  };
  agent.createConnection = (_options, created) => {
    if (isTaken) created!(new Error('The connection was closed.'), socket);
    else created!(null, socket);
    isTaken = true;
    return undefined;
  };
  // The pool closes idle connections.
  agent.keepSocketAlive = (kept) => {
    (kept as Socket).unref();
    return true;
  };
  return agent;
}

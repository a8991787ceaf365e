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
export class TargetConnection {
  readonly near: Duplex;
  readonly far: Duplex;
  readonly agent: HttpAgent;
  readonly #socket: Duplex;
  readonly #receive: (bytes: Buffer) => void;
  /** `null` between two requests. */
  #response: ServerResponse | null = null;
  #hasBegun = false;
  #outgoing: ProxyRequest | null = null;
  #answer: IncomingMessage | null = null;
  #path = '';
  #fields: readonly string[] = [];

  constructor({ open, receive, connected }: TargetConnectionParts) {
    [this.near, this.far] = duplexPair();
    this.#receive = receive;
    this.#socket = open(
      (bytes) => this.#received(bytes),
      () => connected(this.far),
    );
    this.agent = agentOf(this.#socket);
    this.near.on('data', receive).once('close', () => {
      this.far.destroy();
      this.#socket.destroy();
    });
    this.far.once('close', () => this.near.destroy());
    this.#socket
      .on('error', (error) => this.fail(error))
      .once('end', () => this.#ended())
      .once('close', () => {
        this.#ended();
        if (this.#answer === null)
          this.fail(new Error('The connection was closed.'));
      });
  }

  /** The library gets neither path nor fields, because it would change them. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    this.#response = response;
    this.#hasBegun = false;
    this.#answer = null;
    this.#path = request.url!;
    this.#fields = request.rawHeaders;
    request.url = '/';
    request.headers = {};
    response.once('finish', () => {
      if (this.#response !== response) return;
      this.#response = null;
      if (this.#socket.readableEnded || this.#socket.destroyed) this.#ended();
    });
  }

  send(outgoing: ProxyRequest): void {
    this.#outgoing = outgoing;
    for (const name of outgoing.getHeaderNames()) outgoing.removeHeader(name);
    for (const [name, values] of linesByName(this.#fields))
      outgoing.setHeader(name, values);
    outgoing.path = this.#path;
  }

  /** Throws for a response that is not valid. */
  answered(answer: IncomingMessage): void {
    const { shouldKeepAlive } = this.#outgoing!;
    this.#answer = answer;
    const response = this.#response!;
    response.sendDate = false;
    response.shouldKeepAlive = shouldKeepAlive;
    // Otherwise the server adds a line.
    if (shouldKeepAlive) response.removeHeader('Connection');
    response.writeHead(
      answer.statusCode!,
      answer.statusMessage!,
      writable(answer.rawHeaders),
    );
    answer.pipe(response);
    // Node would wait for the body, but a head and a body that come together are sent as one.
    process.nextTick(() => {
      if (!answer.readableDidRead) response.flushHeaders();
    });
  }

  /** A response that is complete still passes. */
  fail(error?: Error): void {
    if (this.#answer?.complete !== true) this.near.destroy(error);
  }

  /** Unsolicited bytes must not become the next response. */
  #received(bytes: Buffer): void {
    if (this.#response === null) this.#socket.destroy();
    else if (!this.#hasBegun && bytes.length > 0) {
      this.#hasBegun = true;
      this.#receive(EMPTY);
    }
  }

  #ended(): void {
    if (this.#response === null) this.far.end();
  }
}

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

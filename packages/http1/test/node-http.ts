import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Duplex } from 'node:stream';

/** As read by node:http (llhttp). One character per byte. */
export interface NodeMessage {
  readonly line: string;
  readonly version: string;
  readonly fields: readonly string[];
  body: string;
  whole: boolean;
}

export interface NodeReading {
  readonly messages: NodeMessage[];
  fault: string | null;
}

/** The test writes with `push`; what is written to it is dropped. */
class Connection extends Duplex {
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
}

type IsEnough = (reading: NodeReading) => boolean;

interface Waiting {
  readonly reading: NodeReading;
  readonly isEnough: IsEnough;
  readonly done: () => void;
}

/** All bytes are in memory, so nothing can follow after this many turns of the event loop. */
const TURNS = 50;

function afterTurns(done: () => void): void {
  let turns = 0;
  const turn = () => (turns++ < TURNS ? setImmediate(turn) : done());
  turn();
}

/** At its strictest, over connections in memory. */
export class NodeServer {
  readonly #server: Server;
  readonly #waiting = new WeakMap<Duplex, Waiting>();

  constructor() {
    const take = (request: IncomingMessage, response: ServerResponse) =>
      this.#take(request, response);
    this.#server = createServer({ insecureHTTPParser: false, maxHeaderSize: 1 << 20 }, take);
    this.#server.maxHeadersCount = 0;
    this.#server.on('checkExpectation', take);
    // llhttp stops after the head of CONNECT: what follows is not HTTP.
    this.#server.on('connect', (request: IncomingMessage) => this.#add(request).done());
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const waiting = this.#waiting.get(socket)!;
      waiting.reading.fault = error.code ?? error.message;
      waiting.done();
    });
  }

  /** Resolves when the reading is enough or faulty, or when all is read. */
  async read(bytes: string, isEnough: IsEnough): Promise<NodeReading> {
    const connection = new Connection();
    const reading: NodeReading = { messages: [], fault: null };
    await new Promise<void>((resolve) => {
      this.#waiting.set(connection, { reading, isEnough, done: resolve });
      this.#server.emit('connection', connection);
      connection.push(Buffer.from(bytes, 'latin1'));
      afterTurns(resolve);
    });
    connection.destroy();
    return reading;
  }

  #add(request: IncomingMessage): { message: NodeMessage; done: () => void } {
    const waiting = this.#waiting.get(request.socket)!;
    const message = {
      line: `${request.method} ${request.url}`,
      version: request.httpVersion,
      fields: [...request.rawHeaders],
      body: '',
      whole: false,
    };
    waiting.reading.messages.push(message);
    const done = () => {
      if (waiting.isEnough(waiting.reading)) waiting.done();
    };
    return { message, done };
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { message, done } = this.#add(request);
    done();
    request.on('data', (bytes: Buffer) => {
      message.body += bytes.toString('latin1');
    });
    request.on('end', () => {
      message.whole = request.complete;
      response.end();
      done();
    });
  }
}

/** Interim responses first. */
export async function readAnswerByNode(
  bytes: string,
  {
    method,
    ends,
    isEnough,
  }: { readonly method: string; readonly ends: boolean; readonly isEnough: IsEnough },
): Promise<NodeReading> {
  const connection = new Connection();
  const reading: NodeReading = { messages: [], fault: null };
  await new Promise<void>((resolve) => {
    const add = (response: IncomingMessage): NodeMessage => {
      const { httpVersion, rawHeaders } = response;
      const line = `${response.statusCode} ${response.statusMessage}`;
      const message = {
        line,
        version: httpVersion,
        fields: [...rawHeaders],
        body: '',
        whole: false,
      };
      reading.messages.push(message);
      return message;
    };
    const done = () => {
      if (isEnough(reading)) resolve();
    };
    const fail = (error: NodeJS.ErrnoException) => {
      reading.fault ??= error.code ?? error.message;
      resolve();
    };
    const asking = request({ method, createConnection: () => connection, maxHeaderSize: 1 << 20 });
    asking.on('error', fail);
    asking.on('information', (response) => {
      add(response as IncomingMessage).whole = true;
      done();
    });
    asking.on('upgrade', (response) => {
      add(response).whole = true;
      done();
    });
    asking.on('response', (response) => {
      const message = add(response);
      done();
      response.on('data', (bytes: Buffer) => {
        message.body += bytes.toString('latin1');
      });
      response.on('error', fail);
      response.on('end', () => {
        message.whole = response.complete;
        done();
      });
    });
    asking.end();
    connection.push(Buffer.from(bytes, 'latin1'));
    if (ends) connection.push(null);
    afterTurns(resolve);
  });
  connection.destroy();
  return reading;
}

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import type { Upstream } from '../../config/config.ts';
import { storeLabel } from '../../config/upstreams.ts';
import { BodyStream, EMPTY } from '../../http1/body-stream.ts';
import { ClientError, type ClientFailure } from '../../http1/client-error.ts';
import { type AnswerTaker, type Question, questionHead } from '../../http1/question.ts';
import { VALUE } from '../../http1/writing.ts';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import { ask } from './question.ts';
import type { StoreAnswer } from './store-answer.ts';
import { type AskedConnection, soleUpstream } from './upstream.ts';

/** The proxy of one mount. */
export interface InnerProxy {
  /** Resolves with the answer of the mount's target. Rejects with Outage, Refusal or CallerLeft. */
  forward(exchange: Exchange, asked: Question, observe: Observe): Promise<StoreAnswer>;
}

/** For what most gateways do without: the first mount with a target loads it. */
const load = createRequire(import.meta.url);

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
const WITHOUT_BODY = new Set([204, 304]);

/** Requests for a mount go through http-proxy-middleware, which is asked as a connection to a store is: with one request of each. */
export function createInnerProxy(
  target: string,
  timeouts: Pick<Upstream, 'connectTimeout' | 'headersTimeout' | 'bodyTimeout'>,
): InnerProxy {
  const passages = new WeakMap<object, Passage>();
  const { createProxyMiddleware } = load('http-proxy-middleware') as typeof import('http-proxy-middleware');
  const proxy = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target,
    changeOrigin: true,
    proxyTimeout: timeouts.bodyTimeout,
    selfHandleResponse: true,
    on: {
      proxyReq: (outgoing, request) => passages.get(request)!.sends(outgoing, timeouts.connectTimeout),
      proxyRes: (answer, request) => passages.get(request)!.answers(answer),
      error: (error, request) => passages.get(request)!.fails(error),
    },
  });

  function take(): Passage {
    return new Passage((request, passage) => {
      passages.set(request, passage);
      // It is never written to: the answer is taken from the proxy as it comes.
      void proxy(request as unknown as IncomingMessage, new Writable() as unknown as ServerResponse);
    });
  }

  const upstream = soleUpstream(storeLabel(target), { take, giveBack() {} });
  // The body is gone if the target fails, so no request is sent again.
  return { forward: (exchange, asked, observe) => ask({ upstream, observe, exchange, asked, once: true }) };
}

/** A request on its way through the proxy, and its answer. */
class Passage implements AskedConnection {
  readonly isOpen = true;
  readonly #proxy: (request: Readable, passage: Passage) => void;
  #taker: AnswerTaker | null = null;
  #method = '';
  #stream: BodyStream | null = null;
  #outgoing: ClientRequest | null = null;
  #isCancelled = false;
  /** The target was silent for too long; the proxy reports this as a hang-up. */
  #tooSlow = false;

  constructor(proxy: (request: Readable, passage: Passage) => void) {
    this.#proxy = proxy;
  }

  ask(question: Question, taker: AnswerTaker): void {
    this.#taker = taker;
    this.#method = question.method;
    this.#proxy(
      requestOf(question, (error) => this.#end(new ClientError('body', 'the body ended early', { cause: error }))),
      this,
    );
  }

  /** An answer that the caller does not want any more must not go on. */
  cancel(): void {
    this.#isCancelled = true;
    this.#taker = null;
    this.#stream = null;
    this.#outgoing?.destroy();
  }

  sends(outgoing: ClientRequest, connectTimeout: number): void {
    this.#outgoing = outgoing;
    if (this.#isCancelled) {
      outgoing.destroy();
      return;
    }
    outgoing.prependOnceListener('timeout', () => {
      this.#tooSlow = true;
    });
    this.#watchConnecting(outgoing.socket!, connectTimeout);
  }

  answers(answer: IncomingMessage): void {
    const taker = this.#taker;
    if (taker === null || !isWellFormed(answer)) {
      this.fails(new Error('the head of the answer is not valid'));
      return;
    }
    this.#taker = null;
    taker.begun();
    const { statusCode: status = 0, statusMessage: reason = '', rawHeaders: fields } = answer;
    if (this.#method === 'HEAD' || WITHOUT_BODY.has(status)) {
      answer.resume();
      taker.answer({ status, reason, fields, body: EMPTY });
      return;
    }
    const body = new BodyStream({ pause: () => answer.pause(), resume: () => answer.resume() });
    this.#stream = body;
    taker.answer({ status, reason, fields, body });
    answer
      .on('data', (chunk: Buffer) => body.push(chunk))
      .on('end', () => {
        this.#stream = null;
        body.end();
      })
      .on('close', () => this.fails(new Error('the body broke off')));
  }

  fails(cause: Error): void {
    const { code = '' } = cause as NodeJS.ErrnoException;
    let failure: ClientFailure = UNREACHABLE.has(code) ? 'unreachable' : 'broken';
    if (this.#tooSlow) failure = 'too_slow';
    this.#end(new ClientError(failure, cause.message, { cause }));
  }

  #end(error: ClientError): void {
    const [taker, stream] = [this.#taker, this.#stream];
    this.#taker = null;
    this.#stream = null;
    this.#outgoing?.destroy();
    if (taker !== null) taker.fail(error);
    else stream?.fail(error);
  }

  /** The proxy's own timeouts begin once it is connected; the system would try to connect for minutes. */
  #watchConnecting(socket: Socket, connectTimeout: number): void {
    if (!socket.connecting) return;
    const timer = setTimeout(
      () => this.#end(new ClientError('unreachable', `no connection within ${connectTimeout} ms`)),
      connectTimeout,
    );
    const stop = () => clearTimeout(timer);
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', stop).once('close', stop);
  }
}

/** What Node's parser lets through and `http1/reader.ts` does not. */
function isWellFormed({ statusCode = 0, statusMessage = '', headers, rawHeaders }: IncomingMessage): boolean {
  const { 'transfer-encoding': coding = 'chunked' } = headers;
  const isKnown = statusCode >= 200 && statusCode <= 599 && coding.toLowerCase() === 'chunked';
  return isKnown && VALUE.test(statusMessage) && rawHeaders.every((text) => VALUE.test(text));
}

/** The request as the proxy reads it: its body, with the parts of the head beside it. */
function requestOf(question: Question, failed: (error: unknown) => void): Readable {
  const { method, target: url, body } = question;
  const headers: Record<string, string | string[]> = Object.create(null);
  for (const line of questionHead(question, { host: 'mount', basePath: '' }).split('\r\n').slice(1, -2)) {
    const at = line.indexOf(':');
    const name = line.slice(0, at).toLowerCase();
    const value = line.slice(at + 1).trim();
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  let isRead = false;
  const request = new Readable({
    read() {
      if (body === null || Buffer.isBuffer(body)) {
        if (body !== null) this.push(body);
        this.push(null);
      } else if (isRead) body.resumeBody();
      else {
        isRead = true;
        body.readBody({
          chunk: (bytes) => this.push(bytes),
          end: () => void this.push(null),
          fail: failed,
        });
      }
    },
  });
  return Object.assign(request, {
    method,
    url,
    headers,
    httpVersion: '1.1',
    httpVersionMajor: 1,
    socket: { writable: true },
  });
}

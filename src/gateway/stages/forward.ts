import type { ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Operation } from '../../contract/contract.ts';
import { Outage } from '../../errors/outage.ts';
import type { Observe } from '../../observe/events.ts';
import { CallerLeft, type Exchange } from '../exchange.ts';
import type { Answer } from '../reply/answer.ts';
import type { Lease, Upstream } from '../upstream/connections.ts';
import { pushReturned, requestHeaders } from '../upstream/headers.ts';
import { type AnswerSink, type Inspection, Inspector } from '../upstream/inspection.ts';
import type { KnownClient } from './authenticate.ts';
import type { Checked } from './contract.ts';

/** Hands the checked request to the store, and its answer, or what became of it, to the caller. */
export type Forward = (exchange: Exchange, client: KnownClient, checked: Checked) => void;

export interface ForwardParts {
  readonly upstream: Upstream;
  readonly answer: Answer;
  readonly observe: Observe;
  /** Whether answers are held against the contract before they go on; `null`: they pass as they come. */
  readonly inspection: Inspection | null;
}

/** Methods whose repetition changes nothing (RFC 9110 section 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

export function createForward({ upstream, answer, observe, inspection }: ForwardParts): Forward {
  return function forward(exchange, client, { operation, body }) {
    const { path, query } = exchange.target!;
    const options: Dispatcher.DispatchOptions = {
      method: exchange.method as Dispatcher.HttpMethod,
      path: query === '' ? upstream.basePath + path : `${upstream.basePath}${path}?${query}`,
      headers: inspection ? withoutEncodings(requestHeaders(exchange, client)) : requestHeaders(exchange, client),
      body,
    };
    exchange.forwardedAt = performance.now();
    ask({ exchange, operation, options, repeated: false });
  };

  function ask(question: Question): void {
    const leased = upstream.lease();
    if (leased instanceof Promise) {
      leased.then((lease) => dispatch(question, lease)).catch((error) => answer.fail(question.exchange, error));
    } else {
      dispatch(question, leased);
    }
  }

  function dispatch(question: Question, lease: Lease): void {
    const { exchange, operation, options } = question;
    const relay = new Relay(question, answer, lease, failed);
    lease.client.dispatch(options, inspection ? new Inspector(relay, exchange, operation, inspection) : relay);
  }

  function failed(question: Question, error: Error): void {
    const { exchange } = question;
    if (!mayRepeat(question, error)) {
      answer.fail(exchange, outageOf(error));
      return;
    }
    observe({ type: 'retry', id: exchange.id, error });
    try {
      ask({ ...question, repeated: true });
    } catch (again) {
      answer.fail(exchange, again);
    }
  }

  /** Once, and only where the store cannot have answered: an idle connection that turned out to be closed. */
  function mayRepeat({ exchange: { method, answeredAt, response }, repeated }: Question, error: Error): boolean {
    return !repeated && answeredAt === 0 && IDEMPOTENT.has(method) && !response.destroyed && upstream.diedReused(error);
  }
}

/** One request to the store. */
interface Question {
  readonly exchange: Exchange;
  readonly operation: Operation;
  readonly options: Dispatcher.DispatchOptions;
  readonly repeated: boolean;
}

/** An encoded answer could not be checked. */
function withoutEncodings(headers: readonly string[]): string[] {
  return headers.filter((_, i) => headers[i - (i % 2)]!.toLowerCase() !== 'accept-encoding');
}

/** Bytes up to which copying a body costs less than a second write. */
const ONE_WRITE = 32 * 1024;

/** One answer on its way from undici to the caller, at the caller's pace. */
class Relay implements AnswerSink {
  readonly #question: Question;
  readonly #exchange: Exchange;
  readonly #response: ServerResponse;
  readonly #answer: Answer;
  readonly #lease: Lease;
  readonly #failed: (question: Question, error: Error) => void;
  /** Length of a body whose head waits for it, so that both leave in one write; -1: the head is out. */
  #held = -1;

  constructor(question: Question, answer: Answer, lease: Lease, failed: (question: Question, error: Error) => void) {
    this.#question = question;
    this.#exchange = question.exchange;
    this.#response = question.exchange.response;
    this.#answer = answer;
    this.#lease = lease;
    this.#failed = failed;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const leave = () => controller.abort(new CallerLeft());
    this.#exchange.cancel = leave;
    if (this.#response.destroyed) leave();
  }

  /** The first byte of an answer: from here on the store has had the request, and it is not sent again. */
  onResponseStarted(): void {
    this.#exchange.answeredAt = performance.now();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    reason?: string,
  ): void {
    if (status < 200) return;
    checkFraming(status, headers);
    this.#exchange.answeredAt = performance.now();
    const list = this.#answer.headers(this.#exchange);
    pushReturned(list, headers);
    this.#response.writeHead(status, reason || undefined, list);
    const length = Number(headers['content-length']);
    if (length > 0 && this.#exchange.method !== 'HEAD') this.#held = length;
    else if (headers['transfer-encoding'] !== undefined) this.#response.flushHeaders();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const whole = chunk.length === this.#held;
    this.#held = -1;
    if (whole && chunk.length <= ONE_WRITE) {
      // As a latin1 string, which keeps every byte, Node joins head and body into one write; a Buffer would take two.
      this.#response.end(chunk.toString('latin1'), 'latin1');
    } else if (whole) {
      this.#response.end(chunk);
    } else if (!this.#response.write(chunk)) {
      controller.pause();
      this.#response.once('drain', () => controller.resume());
    }
  }

  onResponseEnd(): void {
    this.#done();
    if (!this.#response.writableEnded) this.#response.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#done();
    this.#failed(this.#question, error);
  }

  #done(): void {
    this.#exchange.cancel = null;
    this.#lease.giveBack();
  }
}

/** What undici passes although this answer could not be handed on as what it is. */
function checkFraming(status: number, headers: Record<string, string | string[] | undefined>): void {
  const coding = headers['transfer-encoding'];
  if (status > 599) throw new Error(`the store answered with the status ${status}`);
  if (coding !== undefined && `${coding}`.toLowerCase() !== 'chunked') {
    throw new Error('the store answered with a Transfer-Encoding that is not chunked');
  }
  // RFC 9112 section 6.3: the coding decides, and RFC 9110 section 8.6: no length without content.
  if (coding !== undefined || status === 204) delete headers['content-length'];
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const TOO_SLOW = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ERR_UPSTREAM_UPGRADE_TIMEOUT']);

/** What a failed conversation with the store is called. */
export function outageOf(error: Error): Error {
  if (error instanceof CallerLeft || error instanceof Outage) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (UNREACHABLE.has(code)) return new Outage('upstream_unavailable', { cause: error });
  return new Outage(TOO_SLOW.has(code) ? 'upstream_timeout' : 'upstream_error', { cause: error });
}

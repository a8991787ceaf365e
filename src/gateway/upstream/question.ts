import type { Dispatcher } from 'undici';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import { CallerLeft } from '../wire/caller-left.ts';
import type { Lease, Upstream } from './connections.ts';
import { returnedHeaders } from './headers.ts';
import { outageOf } from './outages.ts';
import { type AnswerBody, BodyStream, EMPTY, type StoreAnswer } from './store-answer.ts';

/** Methods that may be repeated without further effect (RFC 9110 section 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

type Headers = Record<string, string | string[] | undefined>;

interface QuestionParts {
  readonly upstream: Upstream;
  readonly observe: Observe;
  readonly exchange: Exchange;
  readonly options: Dispatcher.DispatchOptions;
}

/**
 * Asks the store. Resolves once the head of the answer has come, with the whole body if one read holds both. Rejects with
 * Outage, or with CallerLeft when the caller leaves.
 */
export function ask(parts: QuestionParts): Promise<StoreAnswer> {
  return new Promise((resolve, reject) => new Question(parts, resolve, reject).begin());
}

/** One request to the store, as a handler for undici. */
class Question implements Dispatcher.DispatchHandler {
  readonly #parts: QuestionParts;
  readonly #resolve: (answer: StoreAnswer) => void;
  readonly #reject: (error: unknown) => void;
  #repeated = false;
  #lease: Lease | null = null;
  /** The head of an answer that waits for its body, so that what comes in one read leaves in one write. */
  #held: Omit<StoreAnswer, 'body'> | null = null;
  /** Bytes of the body that the head waits for; 0: it waits for the end. */
  #length = 0;
  #body: BodyStream | null = null;

  constructor(parts: QuestionParts, resolve: (answer: StoreAnswer) => void, reject: (error: unknown) => void) {
    this.#parts = parts;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    try {
      const leased = this.#parts.upstream.lease();
      if (leased instanceof Promise) leased.then((lease) => this.#dispatch(lease)).catch(this.#reject);
      else this.#dispatch(leased);
    } catch (error) {
      this.#reject(error);
    }
  }

  #dispatch(lease: Lease): void {
    this.#lease = lease;
    lease.client.dispatch(this.#parts.options, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { exchange } = this.#parts;
    const leave = () => controller.abort(new CallerLeft());
    exchange.cancel = leave;
    if (exchange.response.destroyed) leave();
  }

  /** The first byte of an answer: the store has had the request, so it is not sent again. */
  onResponseStarted(): void {
    this.#parts.exchange.answeredAt = performance.now();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Headers,
    reason: string | undefined,
  ): void {
    if (status < 200) return;
    checkHead(status, reason, headers);
    const { exchange } = this.#parts;
    exchange.answeredAt = performance.now();
    this.#held = { status, reason: reason ?? '', headers: returnedHeaders(headers) };
    const length = Number(headers['content-length'] ?? -1);
    if (exchange.method === 'HEAD' || status === 204 || status === 304 || length === 0) return;
    this.#length = length;
    if (length < 0) this.#answerWith(this.#stream(controller));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#held) this.#body!.push(chunk);
    else if (chunk.length === this.#length) this.#answerWith(chunk);
    else {
      this.#answerWith(this.#stream(controller));
      this.#body!.push(chunk);
    }
  }

  onResponseEnd(): void {
    this.#done();
    if (this.#held) this.#answerWith(EMPTY);
    else this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#done();
    if (this.#body) this.#body.fail(outageOf(error));
    else if (this.#mayRepeat(error)) this.#repeat(error);
    else this.#reject(outageOf(error));
  }

  #stream(controller: Dispatcher.DispatchController): BodyStream {
    this.#body = new BodyStream(controller);
    return this.#body;
  }

  #answerWith(body: AnswerBody): void {
    const head = this.#held!;
    this.#held = null;
    this.#resolve({ ...head, body });
  }

  #done(): void {
    this.#parts.exchange.cancel = null;
    this.#lease?.giveBack();
    this.#lease = null;
  }

  /** Once, and only for an idle connection that turned out to be closed: the store cannot have answered on it. */
  #mayRepeat(error: Error): boolean {
    const { exchange, upstream } = this.#parts;
    const { method, answeredAt, response } = exchange;
    return (
      !this.#repeated && answeredAt === 0 && IDEMPOTENT.has(method) && !response.destroyed && upstream.diedReused(error)
    );
  }

  #repeat(error: Error): void {
    const { exchange, observe } = this.#parts;
    this.#repeated = true;
    observe({ type: 'retry', id: exchange.id, error });
    this.begin();
  }
}

/** RFC 9112 section 4: a reason phrase has tabs, spaces, visible characters and bytes above 0x7f. */
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Throws for answers that undici accepts but that cannot be passed on as they are. */
function checkHead(status: number, reason: string | undefined, headers: Headers): void {
  const coding = headers['transfer-encoding'];
  if (status > 599) throw new Error(`the store answered with the status ${status}`);
  if (!REASON.test(reason ?? '')) throw new Error('the store answered with a control character in the reason phrase');
  if (coding !== undefined && `${coding}`.toLowerCase() !== 'chunked') {
    throw new Error('the store answered with a Transfer-Encoding that is not chunked');
  }
  // The coding overrides the length (RFC 9112 section 6.3), and 204 has no length (RFC 9110 section 8.6).
  if (coding !== undefined || status === 204) delete headers['content-length'];
}

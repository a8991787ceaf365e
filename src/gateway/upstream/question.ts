import { BodyStream } from '../../http1/body-stream.ts';
import type { ClientConnection } from '../../http1/client-connection.ts';
import type { ClientError } from '../../http1/client-error.ts';
import type { AnswerTaker, Question as Asked, ClientAnswer } from '../../http1/question.ts';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import { CallerLeft } from '../wire/caller-left.ts';
import { returnedHeaders } from './headers.ts';
import { outageOf } from './outages.ts';
import type { StoreAnswer } from './store-answer.ts';
import type { AskedStore, Upstream } from './upstream.ts';

/** Methods that may be repeated without further effect (RFC 9110 section 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

export interface QuestionParts {
  readonly upstream: Upstream;
  readonly observe: Observe;
  readonly exchange: Exchange;
  readonly asked: Asked;
  /** Never sent again. */
  readonly once?: boolean;
}

/**
 * Asks the store. Resolves once the head of the answer has come, with the whole body if one read holds both. Rejects with
 * Outage, or with CallerLeft when the caller leaves.
 */
export function ask(parts: QuestionParts): Promise<StoreAnswer> {
  return new Promise((resolve, reject) => new Question(parts, resolve, reject).begin());
}

/** One request to the store. */
class Question implements AnswerTaker {
  readonly #parts: QuestionParts;
  readonly #resolve: (answer: StoreAnswer) => void;
  readonly #reject: (error: unknown) => void;
  #repeated = false;
  #store: AskedStore | null = null;

  constructor(parts: QuestionParts, resolve: (answer: StoreAnswer) => void, reject: (error: unknown) => void) {
    this.#parts = parts;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    try {
      const { upstream, exchange } = this.#parts;
      const store = upstream.choose();
      this.#store = store;
      const taken = store.pool.take(exchange.client?.party);
      if (taken instanceof Promise)
        taken.then((connection) => this.#askOn(store, connection)).catch((error) => this.#lose(error));
      else this.#askOn(store, taken);
    } catch (error) {
      this.#lose(error);
    }
  }

  /** The store has had the request, so it is not sent again. */
  begun(): void {
    this.#parts.exchange.answeredAt = performance.now();
  }

  answer({ status, reason, fields, body }: ClientAnswer): void {
    const { exchange } = this.#parts;
    if (!(body instanceof BodyStream)) exchange.cancel = null;
    this.#resolve({ status, reason, headers: returnedHeaders(fields, status), body: told(body) });
  }

  fail(error: ClientError): void {
    this.#parts.exchange.cancel = null;
    if (this.#mayRepeat(error)) this.#repeat(error);
    else this.#reject(outageOf(error));
  }

  #askOn({ pool }: AskedStore, connection: ClientConnection): void {
    const { exchange, asked } = this.#parts;
    if (exchange.call.left) {
      pool.giveBack(connection);
      this.#reject(new CallerLeft());
      return;
    }
    exchange.cancel = () => {
      connection.cancel(asked);
      this.#reject(new CallerLeft());
    };
    try {
      connection.ask(asked, this);
    } catch (error) {
      // It cannot be sent, which is no fault of the connection.
      pool.giveBack(connection);
      throw error;
    }
  }

  #lose(error: unknown): void {
    this.#parts.exchange.cancel = null;
    this.#reject(outageOf(error));
  }

  /** Once, and only for an idle connection that turned out to be closed: the store cannot have answered on it. */
  #mayRepeat({ diedIdle }: ClientError): boolean {
    const { exchange, asked, once = false } = this.#parts;
    return !once && diedIdle && !this.#repeated && IDEMPOTENT.has(asked.method) && !exchange.call.left;
  }

  #repeat(error: Error): void {
    const { exchange, observe } = this.#parts;
    this.#repeated = true;
    const { upstream, name: store } = this.#store!;
    observe({ type: 'retry', id: exchange.id, upstream, store, error });
    this.begin();
  }
}

/** A stream of the store that fails with what the failure is to its caller. */
function told(body: Buffer | BodyStream): Buffer | BodyStream {
  if (!(body instanceof BodyStream)) return body;
  body.failsWith(outageOf);
  return body;
}

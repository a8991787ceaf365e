import type { AnswerTaker, ClientAnswer, ClientConnection, ClientError, Question } from '@storegate/http1';
import { BodyStream } from '@storegate/http1';
import type { StoreHandle } from './upstream.ts';

/** Milliseconds. */
const TRIAL_TIMEOUT = 40;

interface Waiting extends AnswerTaker {
  /** The response is discarded. */
  detach(store: StoreHandle): void;
}

interface HalfOpenParts {
  readonly store: StoreHandle;
  readonly epoch: number;
  readonly connection: ClientConnection;
  readonly asked: Question;
}

/**
 * If the backend still hangs, another one serves the client, and the request continues alone as a probe. Only for safe
 * requests.
 */
export class HalfOpenRequest implements AnswerTaker {
  readonly #parts: HalfOpenParts;
  #waiting: Waiting | null;
  readonly #timer: NodeJS.Timeout;
  #begunAt = 0;

  constructor(waiting: Waiting, parts: HalfOpenParts) {
    this.#waiting = waiting;
    this.#parts = parts;
    this.#timer = setTimeout(() => this.#leaveAlone(), TRIAL_TIMEOUT);
  }

  begun(): void {
    this.#begunAt = performance.now();
    this.#waiting?.begun();
  }

  answer(answer: ClientAnswer): void {
    clearTimeout(this.#timer);
    if (this.#waiting !== null) {
      this.#waiting.answer(answer);
      return;
    }
    const { store, epoch, connection, asked } = this.#parts;
    store.answered(answer.status, epoch, this.#begunAt);
    if (answer.body instanceof BodyStream) connection.cancel(asked);
  }

  fail(error: ClientError): void {
    clearTimeout(this.#timer);
    const { store, epoch } = this.#parts;
    if (this.#waiting !== null) this.#waiting.fail(error);
    else store.failed(error, epoch);
  }

  #leaveAlone(): void {
    const waiting = this.#waiting!;
    this.#waiting = null;
    waiting.detach(this.#parts.store);
  }
}

import type { AnswerTaker, ClientAnswer, ClientConnection, ClientError, Question } from '@storegate/http1';
import { BodyStream } from '@storegate/http1';
import type { StoreHandle } from './upstream.ts';

/** Milliseconds that a caller waits for a store that may still hang. */
const TRIAL_TIMEOUT = 40;

/** Whose request it is. */
interface Waiting extends AnswerTaker {
  /** It waits no longer: the answer is for nobody. */
  detach(store: StoreHandle): void;
}

interface HalfOpenParts {
  readonly store: StoreHandle;
  readonly epoch: number;
  readonly connection: ClientConnection;
  readonly asked: Question;
}

/**
 * The first request to a store that was away. Its caller does not pay for a store that still hangs: after a moment it is answered
 * elsewhere, or told to come again, and the request goes on alone, to show how the store is. Only for requests that change nothing.
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

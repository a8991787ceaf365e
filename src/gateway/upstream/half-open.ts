import type {
  ClientConnection,
  ClientError,
  ClientRequest,
  ClientResponse,
  ResponseReceiver,
} from '@storegate/http1';
import { BodyStream } from '@storegate/http1';
import type { BackendHandle } from './upstream.ts';

/** Milliseconds. */
const TRIAL_TIMEOUT = 40;

interface Waiting extends ResponseReceiver {
  /** The response is discarded. */
  detach(): void;
}

interface HalfOpenParts {
  readonly backend: BackendHandle;
  readonly epoch: number;
  readonly connection: ClientConnection;
  readonly asked: ClientRequest;
}

/**
 * If the backend still hangs, another one serves the client, and the request continues alone as a
 * probe. Only for safe requests.
 */
export class HalfOpenRequest implements ResponseReceiver {
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

  answer(answer: ClientResponse): void {
    clearTimeout(this.#timer);
    if (this.#waiting !== null) {
      this.#waiting.answer(answer);
      return;
    }
    const { backend, epoch, connection, asked } = this.#parts;
    backend.answered(answer.status, epoch, this.#begunAt);
    if (answer.body instanceof BodyStream) connection.cancel(asked);
  }

  fail(error: ClientError): void {
    clearTimeout(this.#timer);
    const { backend, epoch } = this.#parts;
    if (this.#waiting !== null) this.#waiting.fail(error);
    else backend.failed(error, epoch);
  }

  #leaveAlone(): void {
    const waiting = this.#waiting!;
    this.#waiting = null;
    waiting.detach();
  }
}

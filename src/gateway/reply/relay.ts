import { type BodySink, BodyStream } from '@storegate/http1';
import type { Holding, SharedBudget } from '../../common/shared-budget.ts';
import type { Exchange } from '../exchange.ts';
import type { BackendResponse } from '../upstream/backend-response.ts';
import type { Answer } from './answer.ts';

export type Relay = (exchange: Exchange, stored: BackendResponse) => void;

interface RelayParts {
  readonly answer: Answer;
  readonly readAhead: SharedBudget;
}

export function createRelay({ answer, readAhead }: RelayParts): Relay {
  return function relay(exchange, { status, reason, headers, body }) {
    const fields = answer.fields(exchange);
    fields.addRead(headers);
    const { call } = exchange;
    if (!(body instanceof BodyStream)) {
      call.answer(status, reason, fields, body);
      return;
    }
    call.begin(status, reason, fields);
    body.to(new RelayedBody(exchange, body, readAhead, answer));
    call.flush();
  };
}

/**
 * While the budget has room, it is read ahead of a slow client, which frees the backend connection.
 */
class RelayedBody implements BodySink {
  readonly #exchange: Exchange;
  readonly #body: BodyStream;
  readonly #budget: SharedBudget;
  readonly #answer: Answer;
  readonly #ahead: Buffer[] = [];
  #holding: Holding | null = null;
  #blocked = false;
  #paused = false;
  #ended = false;
  #isWatched = false;
  readonly #drained = () => this.#sendOn();

  constructor(
    exchange: Exchange,
    body: BodyStream,
    budget: SharedBudget,
    answer: Answer,
  ) {
    this.#exchange = exchange;
    this.#body = body;
    this.#budget = budget;
    this.#answer = answer;
  }

  chunk(bytes: Buffer): boolean {
    const { call } = this.#exchange;
    if (!this.#blocked) {
      this.#blocked = !call.write(bytes, this.#drained);
      return true;
    }
    if (!this.#isWatched) {
      this.#isWatched = true;
      call.whenEnded(() => this.#letGo());
    }
    this.#ahead.push(Buffer.from(bytes));
    // The backend will not send it again, so it is in use.
    this.#holding ??= this.#budget.open(this.#exchange.client!.owner, null);
    this.#paused = !this.#budget.grow(this.#holding, bytes.length);
    return !this.#paused;
  }

  end(): void {
    if (this.#ahead.length === 0) this.#exchange.call.end();
    else this.#ended = true;
  }

  fail(error: unknown): void {
    this.#letGo();
    void this.#answer.fail(this.#exchange, error);
  }

  #sendOn(): void {
    const { call } = this.#exchange;
    this.#blocked = false;
    while (this.#ahead.length > 0 && !this.#blocked)
      this.#blocked = !call.write(this.#ahead.shift()!, this.#drained);
    if (this.#ahead.length > 0) return;
    this.#letGo();
    if (this.#ended) call.end();
    else if (this.#paused) {
      this.#paused = false;
      this.#body.resume();
    }
  }

  #letGo(): void {
    this.#ahead.length = 0;
    if (this.#holding !== null) this.#budget.release(this.#holding);
    this.#holding = null;
  }
}

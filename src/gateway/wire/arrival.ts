import type { BodySink, StreamedBody } from '@storegate/http1';
import { ByteBuffer } from '@storegate/http1';
import type { SharedBudget } from '../../common/shared-budget.ts';
import { Refusal } from '../../errors/refusals.ts';
import type { Call } from './call.ts';
import { bodyFailure, tooLarge } from './wire-refusals.ts';

export interface ArrivalParts {
  /** Bytes. */
  readonly most: number;
  /** Bytes, after which the body is passed on while it arrives. */
  readonly streamedFrom: number;
  readonly budget: SharedBudget;
  readonly owner: string;
  readonly resolve: (body: Buffer | StreamedBody | null) => void;
  readonly reject: (reason: unknown) => void;
  readonly ended: () => void;
}

/** A body on its way from the client: gathered, and the rest of a large one passed on. */
export class Arrival implements BodySink, StreamedBody {
  readonly length: number | null;
  readonly #call: Call;
  readonly #parts: ArrivalParts;
  #gathered = new ByteBuffer();
  #held = 0;
  #size = 0;
  /** `null`: the rate is not measured yet. */
  #sizeAtLast: number | null = null;
  /** The backend, and not the client, is slow. */
  #isPaused = false;
  #isStreamed = false;
  #isEnded = false;
  #failure: unknown = null;
  #sink: BodySink | null = null;

  constructor(call: Call, parts: ArrivalParts) {
    this.#call = call;
    this.#parts = parts;
    this.length = call.framing === 'chunked' ? null : call.framing;
  }

  chunk(bytes: Buffer): boolean {
    if (this.#failure !== null) return true;
    const { most } = this.#parts;
    this.#size += bytes.length;
    if (this.#size > most) {
      this.refuse(tooLarge(most));
      return true;
    }
    if (this.#sink !== null) return this.#flow(this.#sink.chunk(bytes));
    if (!this.#gather(bytes)) {
      // When room returns is unknown; most bodies need a second.
      this.refuse(new Refusal('gateway_busy', { headers: ['Retry-After', '1'], close: true }));
      return true;
    }
    if (this.#size <= this.#parts.streamedFrom) return true;
    if (!this.#isStreamed) {
      this.#isStreamed = true;
      this.#parts.resolve(this);
    }
    return this.#flow(false);
  }

  end(): void {
    this.#isEnded = true;
    this.#parts.ended();
    if (!this.#isStreamed) this.#parts.resolve(this.#gathered.whole);
    else this.#sink?.end();
  }

  fail(error: unknown): void {
    this.#fail(bodyFailure(error));
  }

  /** The rest of the body is dropped: a pause would retain one read of each. */
  refuse(refusal: Refusal): void {
    this.#call.dropBody();
    this.release();
    this.#fail(refusal);
  }

  release(): void {
    this.#parts.ended();
    this.#empty();
  }

  /** Bytes; `null` for the first call, and while the backend is slow. */
  arrivedSinceLast(): number | null {
    const last = this.#isPaused ? null : this.#sizeAtLast;
    this.#sizeAtLast = this.#isPaused ? null : this.#size;
    return last === null ? null : this.#size - last;
  }

  readBody(sink: BodySink): void {
    this.#sink = sink;
    if (this.#failure !== null) {
      sink.fail(this.#failure);
      return;
    }
    const gathered = this.#gathered.whole;
    const more = gathered === null || sink.chunk(gathered);
    this.#empty();
    if (this.#isEnded) sink.end();
    else if (more) this.resumeBody();
  }

  resumeBody(): void {
    if (this.#failure !== null) return;
    this.#flow(true);
    this.#call.resumeBody();
  }

  #flow(more: boolean): boolean {
    if (this.#isPaused && more) this.#sizeAtLast = null;
    this.#isPaused = !more;
    return more;
  }

  #gather(bytes: Buffer): boolean {
    const { budget, owner } = this.#parts;
    this.#gathered.add(bytes);
    const grown = this.#gathered.capacity - this.#held;
    if (!budget.take(owner, grown)) return false;
    this.#held += grown;
    return true;
  }

  #empty(): void {
    this.#parts.budget.release(this.#parts.owner, this.#held);
    this.#held = 0;
    this.#gathered = new ByteBuffer();
  }

  #fail(reason: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = reason;
    this.#parts.ended();
    if (!this.#isStreamed) this.#parts.reject(reason);
    else this.#sink?.fail(reason);
  }
}

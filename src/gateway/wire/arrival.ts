import {
  type BodySink,
  ByteBuffer,
  type QueueOwner,
  type StreamedBody,
} from '@storegate/http1';
import { Refusal } from '../../common/errors/refusals.ts';
import type { InTurns } from '../../common/in-turns.ts';
import type {
  Evictable,
  Holding,
  SharedBudget,
} from '../../common/shared-budget.ts';
import type { Call } from './call.ts';
import { bodyFailure, tooLarge } from './wire-refusals.ts';

interface ArrivalParts {
  /** Bytes. */
  readonly most: number;
  /** Bytes, after which the body is passed on while it arrives. */
  readonly streamedFrom: number;
  readonly budget: SharedBudget;
  readonly owner: QueueOwner;
  /** For refusals of evicted bodies: there may be thousands at once. */
  readonly later: InTurns;
  readonly resolve: (body: Buffer | StreamedBody | null) => void;
  readonly reject: (reason: unknown) => void;
  readonly ended: () => void;
}

/**
 * A body on its way from the client: gathered, and the rest of a large one passed on. While it is
 * gathered, it may be evicted. Then it is in use: its owner is charged until it was sent to the
 * backend as a stream, or until the response has ended, because a whole one may be sent again.
 */
export class Arrival implements BodySink, StreamedBody, Evictable {
  readonly length: number | null;
  readonly #call: Call;
  readonly #parts: ArrivalParts;
  readonly #holding: Holding;
  /** `null`: it holds nothing any more. */
  #gathered: ByteBuffer | null;
  #size = 0;
  /** `null`: the rate is not measured yet. */
  #sizeAtLast: number | null = null;
  /** The backend, and not the client, is slow. */
  #isPaused = false;
  #isStreamed = false;
  #isEnded = false;
  /** It was refused, or the response has ended, before it was streamed. */
  #isOver = false;
  #failure: unknown = null;
  #sink: BodySink | null = null;

  constructor(call: Call, parts: ArrivalParts) {
    this.#call = call;
    this.#parts = parts;
    this.length = call.framing === 'chunked' ? null : call.framing;
    this.#gathered = new ByteBuffer(
      Math.min(this.length ?? parts.most, parts.streamedFrom),
    );
    this.#holding = parts.budget.open(parts.owner, this);
  }

  /**
   * Refuses what could not be kept if it were whole now, because reading it would cost others time.
   */
  begin(): void {
    const { budget, streamedFrom } = this.#parts;
    if (
      this.length === null ||
      budget.couldKeep(this.#holding, Math.min(this.length, streamedFrom))
    )
      this.#call.readBody(this);
    else this.refuse(busy());
  }

  chunk(bytes: Buffer): boolean {
    if (this.#isOver || this.#failure !== null) return true;
    const { most } = this.#parts;
    this.#size += bytes.length;
    if (this.#size > most) {
      this.refuse(tooLarge(most));
      return true;
    }
    if (this.#sink !== null) return this.#flow(this.#sink.chunk(bytes));
    if (!this.#gather(bytes)) {
      this.refuse(busy());
      return true;
    }
    if (this.#size <= this.#parts.streamedFrom) return true;
    if (!this.#isStreamed) {
      if (!this.#isAccepted(true)) return true;
      this.#isStreamed = true;
      this.#parts.resolve(this);
    }
    return this.#flow(false);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isEnded = true;
    this.#parts.ended();
    if (this.#isStreamed) this.#sink?.end();
    else if (this.#isAccepted(false))
      this.#parts.resolve(this.#gathered!.whole);
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

  evicted(): void {
    this.#call.dropBody();
    this.release();
    this.#parts.later.add(() => this.#fail(busy()));
  }

  release(): void {
    this.#isOver = !this.#isStreamed;
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
    const gathered = this.#gathered?.whole ?? null;
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
    const gathered = this.#gathered;
    if (gathered === null) return true;
    gathered.add(bytes);
    return this.#parts.budget.grow(
      this.#holding,
      gathered.capacity - this.#holding.bytes,
    );
  }

  /** It is in use from now on, or refused. */
  #isAccepted(closes: boolean): boolean {
    if (this.#parts.budget.keep(this.#holding)) return true;
    this.refuse(busy(closes));
    return false;
  }

  #empty(): void {
    this.#parts.budget.release(this.#holding);
    this.#gathered = null;
  }

  #fail(reason: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = reason;
    this.release();
    if (!this.#isStreamed) this.#parts.reject(reason);
    else this.#sink?.fail(reason);
  }
}

function busy(close = true): Refusal {
  return new Refusal('gateway_busy', { close });
}

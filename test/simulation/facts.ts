import type { Event } from '../../src/observe/events.ts';
import type { Step } from './actions.ts';
import type { Key } from './clients.ts';
import type { Answered } from './gateway/gateway.ts';

type ClientStep = Extract<Step, { type: 'clients' }>;

/** A request and its answer, by true time. */
export interface Reply extends Answered {
  /** Numbers the clients of a run. */
  readonly client: number;
  readonly workers: number;
  readonly manner: ClientStep['manner'] | 'guess';
  readonly key: Key | null;
  readonly operation: ClientStep['operation'];
}

/** A change by an operator that was confirmed, or failed with `error`. */
export interface OperatorChange {
  readonly at: number;
  readonly sentAt: number;
  readonly step: Extract<Step, { key: number | null; gateway: number | null }>;
  readonly key: Key;
  readonly error: string | null;
}

/** A call of an operator, repeated under its Idempotency-Key until it was answered. */
export interface Edit {
  /** Its Idempotency-Key, and its request id in the audit log. */
  readonly name: string;
  readonly sentAt: number;
  /** `unknown` too if one call was refused and another one may have made the change. */
  readonly result: 'made' | 'refused' | 'unknown';
  /** The gateway that has made it; `null`: it may have been another one. */
  readonly gateway: string | null;
}

/**
 * Something that an invariant must allow for. Times are true; `until` is Infinity while it lasts.
 */
export interface Disturbance {
  /**
   * `outage`: the gateway, or all, may lack Redis. `messages`: it may lack messages. `loss`:
   * counters of the last `lost` milliseconds may be missing. `clock`: the clock that counts was
   * changed. `pause`: the gateway did not run. `unknown`: the records are gone for so long that
   * their keys are unknown.
   */
  readonly kind: 'outage' | 'messages' | 'loss' | 'clock' | 'pause' | 'unknown';
  /** `null`: all gateways. */
  readonly gateway: string | null;
  readonly from: number;
  until: number;
  /** Of a clock: milliseconds that it jumped. */
  readonly jump?: number;
}

export type Fact =
  | { readonly type: 'answer'; readonly answer: Reply }
  | { readonly type: 'event'; readonly process: string; readonly at: number; readonly event: Event }
  | { readonly type: 'change'; readonly change: OperatorChange }
  | { readonly type: 'client'; readonly manner: ClientStep['manner']; readonly key: Key }
  /** `id`: of the key. */
  | { readonly type: 'attempt'; readonly step: OperatorChange['step']; readonly id: string }
  | { readonly type: 'edit'; readonly edit: Edit }
  | { readonly type: 'plans'; readonly at: number };

/** Milliseconds in which a gateway that can read Redis again knows the keys that came back. */
export const UNTIL_READ = 5_000;

/** All disturbances of a run. */
export class Disturbances {
  readonly #all: Disturbance[] = [];

  add(disturbance: Disturbance): Disturbance {
    this.#all.push(disturbance);
    return disturbance;
  }

  /** Those of `kinds` between two true times that may concern `gateway`; `null`: any gateway. */
  between(
    from: number,
    until: number,
    kinds: readonly Disturbance['kind'][],
    gateway: string | null = null,
  ) {
    return this.#all.filter(
      (one) =>
        kinds.includes(one.kind) &&
        one.from <= until &&
        one.until >= from &&
        (gateway === null || one.gateway === null || one.gateway === gateway),
    );
  }
}

import type { Admission } from '../../limits/admission.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import type { Scopes } from '../../limits/scopes.ts';
import type { StartedBan, State } from '../state.ts';
import type { Strikes } from './refusal-cache.ts';

/**
 * The one state that counts for several gateways. What handles an outage needs of a backend this, its `Shards`, and a `Bus`.
 * A backend rejects with `Outage` when it cannot be asked in time; `cause` says why. Where one subject's record is unfit
 * while the backend is well, the cause is a `LedgerError`.
 */
export interface SharedBackend extends State {
  /** Notes refusals that a gateway answered by itself, and when. Answers how the subject stands now. */
  strike(subject: string, limits: Limits, strikes: Pick<Strikes, 'times' | 'violated'>): Promise<Admission>;
  /** Adds what a gateway admitted by itself. Called again with the same reconciliation, it adds nothing. */
  charge(subject: string, limits: Limits, reconciliation: Reconciliation): Promise<void>;
  /** From now on tells `charges` of requests whose charge is not known. */
  reportInDoubt(charges: InDoubtCharges): void;
}

/** The parts of a backend that fail apart from each other. */
export interface Shards {
  /** The shard that holds what belongs to `name`: a subject, or the hash of a key. */
  shardOf(name: string): string;
  /** Resolves when the shard that holds `name` takes a write; rejects when it does not. May stay open without end. */
  probe(name: string): Promise<unknown>;
  /** Why a call failed, in words for operators. */
  reasonOf(error: unknown): unknown;
}

/** Hears of requests that no longer wait for the backend while it may still charge them. */
export interface InDoubtCharges {
  begin(subject: string): void;
  /** `charged`: the units that the backend charged after all, in these scopes too; 0 also where nobody will ever know. */
  end(subject: string, charged: number, scopes: Scopes): void;
  /** A ban began with such a request. */
  banned(ban: StartedBan): void;
}

/** What one gateway admitted by itself, to be added once. */
export interface Reconciliation {
  readonly gateway: string;
  /** Rises with each reconciliation of the gateway. */
  readonly number: number;
  /** A ban that began meanwhile, in Unix milliseconds, and the limit it is for. */
  readonly ban: { readonly until: number; readonly since: number; readonly limit: Window | null } | null;
  /** In the order of the limits: units admitted, and when the gateway opened the window (Unix milliseconds). */
  readonly windows: readonly { readonly units: number; readonly openedAt: number }[];
}

/** What operators chose for the time that the backend is away. Times are milliseconds. */
export interface OutageSettings {
  /** Longest wait for one answer; `Patience` waits a little longer in a hiccup. */
  readonly deadline: number;
  /** Misses in a row after which requests no longer wait for a shard. */
  readonly failureThreshold: number;
  /** `local`: count in this process; `deny`: answer 503; `allow`: admit without counting. */
  readonly onOutage: 'local' | 'deny' | 'allow';
  /** Under `local`: give out a share of what is left, by the number of gateways, instead of all of it. */
  readonly shareRemaining: boolean;
  /** Longest time a refusal is repeated from memory before the backend is asked again. */
  readonly refusalCacheTtl: number;
}

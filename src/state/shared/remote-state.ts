import type { RedisSettings } from '../../config/config.ts';
import type { Admission } from '../../limits/admission.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import type { Scopes } from '../../limits/scopes.ts';
import type { StartedBan, State } from '../state.ts';
import type { CountedRefusals } from './unsent-refusals.ts';

/**
 * The state that several gateways share, as far as outage handling needs it, together with its
 * `Shards` and a `Bus`. Methods reject with `Outage` on a timeout or error; `cause` is the reason,
 * a `CountersError` if only one subject's record is invalid.
 */
export interface RemoteState extends State {
  /** Counts refusals that this process decided. Returns the new state of the subject. */
  countRefusals(refusals: CountedRefusals): Promise<Admission>;
  /** Adds what a gateway admitted locally. Idempotent per reconciliation. */
  charge(
    subject: string,
    limits: Limits,
    reconciliation: Reconciliation,
  ): Promise<void>;
  /** Reports requests with an unknown charge to `charges`. */
  reportInDoubt(charges: InDoubtCharges): void;
}

export interface Shards {
  /** `name`: a subject, or the hash of a key. */
  shardOf(name: string): string;
  /**
   * Resolves when the shard of `name` accepts a write; rejects when it does not. May stay pending
   * forever.
   */
  probe(name: string): Promise<unknown>;
  reasonOf(error: unknown): unknown;
}

/** A change that every gateway receives. */
export type Message =
  /** `banned`: changed by a ban. */
  | {
      readonly type: 'subject';
      readonly subject: string;
      readonly banned: boolean;
    }
  /** `number`: of the entry in the audit log; `hashes`: that replaced keys had before. */
  | {
      readonly type: 'record';
      readonly number: number;
      readonly hashes: readonly string[];
    }
  /** Messages may have been lost: drop all copies. */
  | { readonly type: 'anything' };

/** Distributes changes among gateways that share Redis, including the sender. */
export interface Bus {
  listen(listener: (message: Message) => void): () => void;
  readonly isLive: boolean;
}

/** Tracks requests that stopped waiting while Redis may still charge them. */
export interface InDoubtCharges {
  begin(subject: string): void;
  /**
   * `charged`: the units that Redis charged, also in these scopes; 0 if that stays unknown.
   */
  end(subject: string, charged: number, scopes: Scopes): void;
  banned(ban: StartedBan): void;
}

export interface Reconciliation {
  readonly gateway: string;
  /** Increases with each reconciliation of the gateway. */
  readonly number: number;
  /** A ban that began during the outage, in Unix milliseconds, and its limit. */
  readonly ban: {
    readonly until: number;
    readonly since: number;
    readonly limit: Window | null;
  } | null;
  /**
   * In the order of the limits: units admitted, and when the gateway opened the window (Unix
   * milliseconds).
   */
  readonly windows: readonly {
    readonly units: number;
    readonly openedAt: number;
  }[];
}

/** What a request asks of a state. */
export interface Charge {
  readonly subject: string;
  readonly limits: Limits;
  readonly cost: number;
  readonly scopes: Scopes;
}

/** config/gateway.yaml describes them. */
export type OutageSettings = Pick<
  RedisSettings,
  | 'deadline'
  | 'failureThreshold'
  | 'onOutage'
  | 'shareRemaining'
  | 'refusalCacheTtl'
>;

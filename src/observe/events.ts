import { inspect } from 'node:util';
import type { Fault } from '@storegate/openapi';
import type { Admission, Readings } from '../limits/admission.ts';
import type { BanEscalation, Window } from '../limits/limits.ts';
import type { Scopes } from '../limits/scopes.ts';

/** The events of the gateway. Code emits events; listeners (log, metrics) decide what to do with them. */
export type Event =
  | RequestEvent
  | { readonly type: 'outage' | 'bug'; readonly id: string; readonly error: unknown }
  | { readonly type: 'ban'; readonly id: string; readonly keyId: string; readonly plan: string; readonly until: number }
  /** A ban of the ladder began, as the log of bans gets it. */
  | { readonly type: 'ban.started'; readonly ban: ReportedBan; readonly strike: LastStrike | null }
  /** A key was used that was never used before, as far as is known. `at`: Unix milliseconds. */
  | { readonly type: 'key.first_used'; readonly keyId: string; readonly at: number }
  /** What became of events for a receiver of webhooks; `dropped`: they are never delivered. */
  | {
      readonly type: 'webhook.delivery';
      readonly endpoint: string;
      readonly event: string;
      readonly result: 'delivered' | 'failed' | 'dropped';
      readonly count: number;
    }
  /** A receiver of webhooks fails, and is tried again. */
  | { readonly type: 'webhook.failing'; readonly endpoint: string; readonly error: string }
  /** It takes events again, after so many failures. */
  | { readonly type: 'webhook.recovered'; readonly endpoint: string; readonly failures: number }
  /** Bans that will never be in the log of bans, as they were too many at once, or the gateway stopped. */
  | { readonly type: 'ban_log.dropped'; readonly count: number }
  /** A request came with the secret from before the last rotation. */
  | { readonly type: 'key.retiring'; readonly id: string; readonly keyId: string; readonly plan: string }
  | {
      readonly type: 'reload.done';
      readonly reason: string;
      readonly changed: readonly string[];
      readonly needRestart: readonly string[];
    }
  /** A reload failed and changed nothing; `problems` has every mistake. */
  | { readonly type: 'reload.failed'; readonly reason: string; readonly problems: readonly string[] }
  /** What decides about requests from now on, as digests that can be compared with those of other gateways. */
  | {
      readonly type: 'configuration.applied';
      readonly settings: string;
      readonly plans: string;
      readonly contract: string;
    }
  | { readonly type: 'last_used.write_failed'; readonly error: unknown }
  | ContractFaultEvent
  /** The URL of the contract is unreachable, and the copy from `at` (Unix milliseconds) is in use. */
  | { readonly type: 'contract.copy_in_use'; readonly url: string; readonly at: number; readonly reason: string }
  /** Operations that the contract has and that are not enforced, because of mistakes in it; each with the first of them. */
  | { readonly type: 'contract.exempted'; readonly operations: readonly string[] }
  /** A request is sent again, because this store failed. */
  | {
      readonly type: 'retry';
      readonly id: string;
      readonly upstream: string;
      readonly store: string;
      readonly error: Error;
    }
  /** A store takes no requests until a probe finds it well. It is named by its host and port. */
  | {
      readonly type: 'upstream.down';
      readonly upstream: string;
      readonly store: string;
      readonly reason: StoreReason;
      readonly error?: unknown;
    }
  /** It takes requests as ever again, `duration` milliseconds later. `removed`: or it was away, and settings name it no more. */
  | {
      readonly type: 'upstream.up';
      readonly upstream: string;
      readonly store: string;
      readonly duration: number;
      readonly removed?: true;
    }
  /** Its checks fail, and it takes requests on, as too few other stores could take them. Once until a check is good again. */
  | {
      readonly type: 'upstream.check_failed';
      readonly upstream: string;
      readonly store: string;
      readonly error?: unknown;
    }
  /** Each change of how a store is, also those that the two above leave out: a return that began, or failed. */
  | { readonly type: 'upstream.state'; readonly upstream: string; readonly store: string }
  /** A request that might have been sent again was not: the budget for that is used up. */
  | { readonly type: 'retry.refused'; readonly upstream: string }
  /** The shared state, or a part of it, is away. The policy decides about requests meanwhile. */
  | { readonly type: 'state.outage'; readonly policy: string; readonly error: unknown }
  /** The shared state was away at the start, so the gateway serves what it kept of it. `copyAge` in milliseconds. */
  | { readonly type: 'state.unavailable_at_start'; readonly reason: string; readonly copyAge: number }
  /** The shared state that was away at the start answers now, but cannot be used until somebody mends what is wrong. */
  | { readonly type: 'state.incompatible'; readonly reason: string }
  /** All of the shared state is back, `duration` milliseconds later. */
  | { readonly type: 'state.recovered'; readonly duration: number }
  /** The shared state answered a request after `duration` milliseconds. */
  | { readonly type: 'state.answered'; readonly duration: number }
  /** The gateway decided a request without the shared state. */
  | { readonly type: 'state.local_mode'; readonly policy: string }
  /** One of the two connections to the shared state was lost, or is back: that of the requests, or the one that listens. */
  | { readonly type: 'state.connection'; readonly of: 'requests' | 'messages'; readonly isCut: boolean }
  /** What requests change in the embedded state cannot be written to disk; it is tried again four times a second. */
  | { readonly type: 'state.write_failed'; readonly error: unknown }
  /** All of it is on disk again. */
  | { readonly type: 'state.write_recovered' }
  /** The data folder has keys that the Redis in use does not know; at least `unknown` of them. */
  | {
      readonly type: 'state.unmigrated_keys';
      readonly folder: string;
      readonly keys: number;
      readonly unknown: number;
      /** What copies them. */
      readonly command: string;
    }
  | { readonly type: 'state.warning'; readonly warning: string }
  | SpansEvent
  /** The receiver of spans failed to take some, after those before were taken. */
  | { readonly type: 'otlp.export_failed'; readonly error: unknown }
  /** It takes spans again, `duration` milliseconds later; so many were lost meanwhile. */
  | { readonly type: 'otlp.export_recovered'; readonly duration: number; readonly dropped: number }
  | RefusedConnectionEvent
  /** A caller and this gateway agreed on TLS. */
  | { readonly type: 'tls.established'; readonly version: string; readonly resumed: boolean }
  | FailedHandshakeEvent
  /** What came from a balancer was no header of the PROXY protocol; the connection was closed. */
  | { readonly type: 'proxy.refused'; readonly reason: string; readonly address: string }
  /** A certificate of the gateway does not hold, or soon will not, or its files are not as they should be. */
  | { readonly type: 'tls.warning'; readonly warning: string }
  | { readonly type: 'worker.started'; readonly worker: number; readonly pid: number }
  | WorkerEndedEvent
  /** The primary process does not answer in time, so this worker counts failures of callers by itself. */
  | { readonly type: 'primary.unresponsive'; readonly error: unknown }
  | { readonly type: 'primary.responsive' }
  /** The primary process is gone, so this worker serves until there is a new one, finishes its requests and ends. */
  | { readonly type: 'primary.exited'; readonly inFlight: number }
  | { readonly type: 'started'; readonly url: string; readonly adminUrl: string; readonly state: string }
  | { readonly type: 'stopping'; readonly inFlight: number }
  | { readonly type: 'stopped'; readonly cutOff: number };

/** The events of these types. `Extract` would drop types that share one shape, such as outage and bug. */
export type EventOf<T extends Event['type']> = Event & { readonly type: T };

/**
 * Why a store is away: requests in a row found no connection, got no usable answer, or none in time; too large a share of them
 * failed; its answers had statuses that count as failures; or the gateway's own checks failed.
 */
export type StoreReason = 'unreachable' | 'untrusted' | 'broken' | 'hanging' | 'failing' | 'statuses' | 'check';

/** One event for each request of the public listener, after its answer has ended in any way. */
export interface RequestEvent {
  readonly type: 'request';
  readonly id: string;
  readonly method: string;
  /** The operation of the contract, `mount <path>`, or a fixed word for everything else; safe as a metric label. */
  readonly operation: string;
  /** 499 if the caller left before the answer. */
  readonly status: number;
  /** Whether the whole answer went out; `false` if either side left. */
  readonly complete: boolean;
  readonly code: string | null;
  readonly verdict: string | null;
  /** Admitted, and a fifth or less is left of one of the windows that it counts in. */
  readonly nearLimit: boolean;
  /** Refused by limits while the caller has strikes, or is banned: it goes on although it was told to wait. */
  readonly unheeding: boolean;
  /** The contract calls the operation deprecated. */
  readonly deprecated: boolean;
  readonly keyId: string | null;
  readonly account: string | null;
  readonly plan: string | null;
  readonly address: string;
  /** Milliseconds; `upstream` until the head of the store's answer, `null` if the store was not asked. */
  readonly duration: number;
  readonly upstream: number | null;
  /** More about it, to explain it later; absent if it never became a request. */
  readonly trace?: RequestTrace;
}

/**
 * How a request was decided. Plain values: whoever keeps one must not keep the request's connection, headers or body in memory with it.
 * Holds nothing that a caller sent but a well-formed `traceparent`.
 */
export interface RequestTrace {
  /** The path of the operation as the contract has it: `/pets/{petId}`. */
  readonly path: string | null;
  readonly subject: string | null;
  /** What the caller was told with `code`, and what decided, for operators alone. */
  readonly message: string | null;
  readonly reason: string | null;
  /** Why it was refused as not fitting the contract; the first faults of `faultCount`. */
  readonly faults: readonly ReportedFault[] | null;
  readonly faultCount: number;
  /** As in the limit headers of the answer. */
  readonly standing: Readings | null;
  /** `null`: nothing was to be charged, or it came not so far. */
  readonly admission: Admission | null;
  readonly ladder: BanEscalation | null;
  /** The units that admission was asked for, and the scopes whose windows it counted in beside the client's own. */
  readonly cost: number;
  readonly scopes: Scopes;
  /** Bytes of the body: those the head tells of (`null`: it does not say how many), and those that came. */
  readonly declared: number | null;
  readonly received: number;
  /** Milliseconds from its begin until the key was found good, admission had decided, and it left for the store; `null`: never. */
  readonly authenticated: number | null;
  readonly admitted: number | null;
  readonly forwarded: number | null;
  /** The store that was asked last; `null`: none was. */
  readonly store: StoreName | null;
  /** Where it stands in a trace, 55 characters: its own span, or while tracing is off that of the caller. */
  readonly traceparent: string | null;
  /** Its span; there is none while tracing is off. */
  readonly span?: RequestSpan | null;
}

/** How a store is called. */
export interface StoreName {
  readonly upstream: string;
  /** Its host and port. */
  readonly store: string;
  /** There is no other one that it could be taken for. */
  readonly isSole: boolean;
}

/** The span of a request. Ids are in hex, as in W3C Trace Context. */
export interface RequestSpan {
  readonly traceId: string;
  readonly id: string;
  /** The span of the caller; `null`: the trace begins here. */
  readonly parentId: string | null;
  /** Whether anybody is to keep it. */
  readonly sampled: boolean;
  /** As they are sent on. */
  readonly flags: string;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
  /** The caller's tracestate. */
  readonly state: string | null;
  /** The attempts at stores, in their order. */
  readonly attempts: AttemptSpan[];
}

/** One attempt at a store. Times are those of `performance.now()`; 0: it has not begun, or not ended. */
export interface AttemptSpan {
  readonly id: string;
  /** Its host and port. */
  store: string | null;
  startedAt: number;
  endedAt: number;
  /** Of the answer. */
  status: number | null;
  /** The code of an outage, where there was no answer. */
  error: string | null;
}

/** A ban of the ladder. Times are Unix milliseconds. */
export interface ReportedBan {
  readonly subject: string;
  readonly at: number;
  readonly until: number;
  readonly rung: number;
  /** The strikes that lead to a ban, sent after this limit was used up; `null`: not known which. */
  readonly strikes: number;
  readonly violated: Window | null;
}

/** The request with which a ban began. */
export interface LastStrike {
  readonly plan: string;
  /** Its route, from the fixed set of words; `null`: none that the gateway knows. */
  readonly operation: string | null;
  readonly requestId: string;
}

/** A fault by its place and the rule that it breaks. A name that the contract does not have is `*`. */
export type ReportedFault = Pick<Fault, 'in' | 'pointer' | 'rule'>;

/** What became of so many spans: the receiver took them or not, or they were dropped: the queue was full, or the gateway stopped. */
export type SpansEvent = { readonly type: 'spans'; readonly count: number } & (
  | { readonly result: 'exported' | 'failed' }
  | { readonly result: 'dropped'; readonly reason: 'queue full' | 'stopped' }
);

/** A connection was closed as soon as it was accepted: its address, or all callers together, had as many as allowed. */
export interface RefusedConnectionEvent {
  readonly type: 'connection.refused';
  readonly reason: 'address' | 'total';
  /** Where the connection came from; a balancer's, if it came through one. */
  readonly address: string;
}

/** A caller and this gateway did not agree on TLS. */
export interface FailedHandshakeEvent {
  readonly type: 'tls.failed';
  /**
   * `closed`: it ended the connection. `timeout`: not done in `http.headersTimeout`. `plaintext`: it spoke HTTP without TLS. `version`: no common
   * version or cipher. `protocol`: it wants another than HTTP/1.1. `distrusted`: it does not trust the certificate.
   */
  readonly reason: 'closed' | 'timeout' | 'plaintext' | 'version' | 'protocol' | 'distrusted' | 'other';
  readonly address: string;
}

/** A worker ended, and its primary process had not told it to. */
export interface WorkerEndedEvent {
  readonly type: 'worker.ended';
  readonly worker: number;
  readonly pid: number;
  /** Such as `signal SIGKILL` or `code 1`, or the reason why the primary process ended it. */
  readonly reason: string;
  /** `false` if someone had asked the worker to stop; it then finished its requests. */
  readonly unexpected: boolean;
  /** Milliseconds until another worker takes its place; `null` if none does, because the gateway stops. */
  readonly replacedAfter: number | null;
}

/** A request or an answer that does not fit the contract and is only reported. Holds no values. */
export interface ContractFaultEvent {
  readonly type: 'contract.fault';
  readonly id: string;
  readonly operation: string;
  readonly side: 'request' | 'response';
  /** The number of all faults; `faults` has the first of them. */
  readonly count: number;
  readonly faults: readonly (ReportedFault & Pick<Fault, 'message'>)[];
}

export type Observe = (event: Event) => void;

/** Calls each listener in turn. If one fails, the others still get the event and the request its answer. */
export function toAll(...listeners: readonly Observe[]): Observe {
  return (event) => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        process.emitWarning(`a listener of events failed: ${inspect(error)}`);
      }
    }
  };
}

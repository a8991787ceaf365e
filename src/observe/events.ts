import { inspect } from 'node:util';
import type { Fault } from '@storegate/openapi';
import type { Admission, Readings } from '../limits/admission.ts';
import type { BanEscalation, Window } from '../limits/limits.ts';
import type { Scopes } from '../limits/scopes.ts';

export type Event =
  | RequestEvent
  | { readonly type: 'outage' | 'bug'; readonly id: string; readonly error: unknown }
  | { readonly type: 'ban'; readonly id: string; readonly keyId: string; readonly plan: string; readonly until: number }
  | { readonly type: 'ban.started'; readonly ban: ReportedBan; readonly strike: LastStrike | null }
  /** The first known use of a key. `at`: Unix milliseconds. */
  | { readonly type: 'key.first_used'; readonly keyId: string; readonly at: number }
  /** `dropped`: never delivered. */
  | {
      readonly type: 'webhook.delivery';
      readonly endpoint: string;
      readonly event: string;
      readonly result: 'delivered' | 'failed' | 'dropped';
      readonly count: number;
    }
  | { readonly type: 'webhook.failing'; readonly endpoint: string; readonly error: string }
  | { readonly type: 'webhook.recovered'; readonly endpoint: string; readonly failures: number }
  /** Bans missing from the log of bans: too many at once, or the gateway stopped. */
  | { readonly type: 'ban_log.dropped'; readonly count: number }
  /** A request used the secret from before the last rotation. */
  | { readonly type: 'key.retiring'; readonly id: string; readonly keyId: string; readonly plan: string }
  | {
      readonly type: 'reload.done';
      readonly reason: string;
      readonly changed: readonly string[];
      readonly needRestart: readonly string[];
    }
  | { readonly type: 'reload.failed'; readonly reason: string; readonly problems: readonly string[] }
  /** Digests, comparable with those of other gateways. */
  | {
      readonly type: 'configuration.applied';
      readonly settings: string;
      readonly plans: string;
      readonly contract: string;
    }
  | { readonly type: 'last_used.write_failed'; readonly error: unknown }
  | ContractFaultEvent
  /** The URL is unreachable. `fetched`: the date of the copy, ISO 8601. */
  | { readonly type: 'contract.copy_in_use'; readonly url: string; readonly fetched: string; readonly reason: string }
  | { readonly type: 'contract.copy_failed'; readonly url: string; readonly error: unknown }
  /** Operations that are not enforced because of mistakes in the contract; each with its first mistake. */
  | { readonly type: 'contract.exempted'; readonly operations: readonly string[] }
  | {
      readonly type: 'retry';
      readonly id: string;
      readonly upstream: string;
      readonly store: string;
      readonly error: Error;
    }
  | {
      readonly type: 'upstream.down';
      readonly upstream: string;
      readonly store: string;
      readonly reason: StoreReason;
      readonly error?: unknown;
    }
  /** `duration` in milliseconds. `removed`: the settings do not name it any more. */
  | {
      readonly type: 'upstream.up';
      readonly upstream: string;
      readonly store: string;
      readonly duration: number;
      readonly removed?: true;
    }
  /** The checks of a backend fail, but it stays up because too few others are. Once per series of failures. */
  | {
      readonly type: 'upstream.check_failed';
      readonly upstream: string;
      readonly store: string;
      readonly error?: unknown;
    }
  /** Every state change, also starts and failures of a recovery. */
  | { readonly type: 'upstream.state'; readonly upstream: string; readonly store: string }
  /** The retry budget is used up. */
  | { readonly type: 'retry.refused'; readonly upstream: string }
  | { readonly type: 'state.outage'; readonly policy: string; readonly error: unknown }
  /** The gateway serves its copy of the shared state. `copyAge` in milliseconds. */
  | { readonly type: 'state.unavailable_at_start'; readonly reason: string; readonly copyAge: number }
  | { readonly type: 'state.incompatible'; readonly reason: string }
  /** `duration` in milliseconds. */
  | { readonly type: 'state.recovered'; readonly duration: number }
  /** `duration` in milliseconds. */
  | { readonly type: 'state.answered'; readonly duration: number }
  | { readonly type: 'state.local_mode'; readonly policy: string }
  | { readonly type: 'state.connection'; readonly of: 'requests' | 'messages'; readonly isCut: boolean }
  | { readonly type: 'state.write_failed'; readonly error: unknown }
  | { readonly type: 'state.write_recovered' }
  /** The data folder has at least `unknown` keys that Redis does not have. */
  | {
      readonly type: 'state.unmigrated_keys';
      readonly folder: string;
      readonly keys: number;
      readonly unknown: number;
      /** The command that copies them. */
      readonly command: string;
    }
  | { readonly type: 'state.warning'; readonly warning: string }
  | SpansEvent
  /** The first failure after a success. */
  | { readonly type: 'otlp.export_failed'; readonly error: unknown }
  /** `duration` in milliseconds; `dropped` spans were lost. */
  | { readonly type: 'otlp.export_recovered'; readonly duration: number; readonly dropped: number }
  | RefusedConnectionEvent
  | { readonly type: 'tls.established'; readonly version: string; readonly resumed: boolean }
  | FailedHandshakeEvent
  | { readonly type: 'proxy.refused'; readonly reason: string; readonly address: string }
  | { readonly type: 'tls.warning'; readonly warning: string }
  | { readonly type: 'worker.started'; readonly worker: number; readonly pid: number }
  | WorkerEndedEvent
  /** The worker counts client failures by itself. */
  | { readonly type: 'primary.unresponsive'; readonly error: unknown }
  | { readonly type: 'primary.responsive' }
  /** The worker serves until there is a new primary process, then drains and ends. */
  | { readonly type: 'primary.exited'; readonly inFlight: number }
  | { readonly type: 'started'; readonly url: string; readonly adminUrl: string; readonly state: string }
  | { readonly type: 'stopping'; readonly inFlight: number }
  | { readonly type: 'stopped'; readonly cutOff: number };

/** `Extract` would drop types that share one shape. */
export type EventOf<T extends Event['type']> = Event & { readonly type: T };

export type StoreReason = 'unreachable' | 'untrusted' | 'broken' | 'hanging' | 'failing' | 'statuses' | 'check';

/** One per request of the public listener, after its response ended in any way. */
export interface RequestEvent {
  readonly type: 'request';
  readonly id: string;
  readonly method: string;
  /** The operation of the contract, `mount <path>`, or a fixed word; safe as a metric label. */
  readonly operation: string;
  /** 499: the client closed the connection before the response. */
  readonly status: number;
  readonly complete: boolean;
  readonly code: string | null;
  readonly verdict: string | null;
  /** Admitted with a fifth or less left in a window. */
  readonly nearLimit: boolean;
  /** Refused by limits while the client has strikes or a ban. */
  readonly unheeding: boolean;
  readonly deprecated: boolean;
  readonly keyId: string | null;
  readonly account: string | null;
  readonly plan: string | null;
  readonly address: string;
  /** Milliseconds; `upstream`: until the head of the backend's response, `null`: no request was sent. */
  readonly duration: number;
  readonly upstream: number | null;
  /** Absent if the input never became a request. */
  readonly trace?: RequestTrace;
}

/**
 * Plain values, so that a kept trace does not retain the request's connection, headers or body. Holds nothing that a
 * client sent except a well-formed `traceparent`.
 */
export interface RequestTrace {
  /** The path template of the contract: `/pets/{petId}`. */
  readonly path: string | null;
  readonly subject: string | null;
  /** The message in the response, and the reason, which only operators see. */
  readonly message: string | null;
  readonly reason: string | null;
  /** The first of `faultCount` contract violations. */
  readonly faults: readonly ReportedFault[] | null;
  readonly faultCount: number;
  readonly usage: Readings | null;
  /** `null`: nothing to charge, or not reached. */
  readonly admission: Admission | null;
  readonly escalation: BanEscalation | null;
  readonly cost: number;
  readonly scopes: Scopes;
  /** Bytes of the body: declared (`null`: unknown) and received. */
  readonly declared: number | null;
  readonly received: number;
  /** Milliseconds since the start; `null`: not reached. */
  readonly authenticated: number | null;
  readonly admitted: number | null;
  readonly forwarded: number | null;
  /** The last backend; `null`: none. */
  readonly store: StoreName | null;
  /** 55 characters: its own span, or the client's while tracing is off. */
  readonly traceparent: string | null;
  readonly span?: RequestSpan | null;
}

export interface StoreName {
  readonly upstream: string;
  /** Host and port. */
  readonly store: string;
  readonly isSole: boolean;
}

/** Ids are in hex, as in W3C Trace Context. */
export interface RequestSpan {
  readonly traceId: string;
  readonly id: string;
  /** `null`: the trace begins here. */
  readonly parentId: string | null;
  readonly sampled: boolean;
  readonly flags: string;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly state: string | null;
  readonly attempts: AttemptSpan[];
}

/** Times are those of `performance.now()`; 0: not reached. */
export interface AttemptSpan {
  readonly id: string;
  /** Host and port. */
  store: string | null;
  startedAt: number;
  endedAt: number;
  status: number | null;
  error: string | null;
}

/** Times are Unix milliseconds. */
export interface ReportedBan {
  readonly subject: string;
  readonly at: number;
  readonly until: number;
  readonly level: number;
  /** `null`: the limit is not known. */
  readonly strikes: number;
  readonly violated: Window | null;
}

export interface LastStrike {
  readonly plan: string;
  /** A fixed set of words; `null`: unknown route. */
  readonly operation: string | null;
  readonly requestId: string;
}

/** A name that the contract does not have is `*`. */
export type ReportedFault = Pick<Fault, 'in' | 'pointer' | 'rule'>;

export type SpansEvent = { readonly type: 'spans'; readonly count: number } & (
  | { readonly result: 'exported' | 'failed' }
  | { readonly result: 'dropped'; readonly reason: 'queue full' | 'stopped' }
);

/** A connection limit was reached, per address or in total. */
export interface RefusedConnectionEvent {
  readonly type: 'connection.refused';
  readonly reason: 'address' | 'total';
  /** The address of the peer, which may be a balancer. */
  readonly address: string;
}

export interface FailedHandshakeEvent {
  readonly type: 'tls.failed';
  /**
   * `timeout`: not done in `http.headersTimeout`. `plaintext`: HTTP without TLS. `version`: no common version or
   * cipher. `protocol`: not HTTP/1.1. `distrusted`: the client does not trust the certificate.
   */
  readonly reason: 'closed' | 'timeout' | 'plaintext' | 'version' | 'protocol' | 'distrusted' | 'other';
  readonly address: string;
}

export interface WorkerEndedEvent {
  readonly type: 'worker.ended';
  readonly worker: number;
  readonly pid: number;
  readonly reason: string;
  /** `false`: the worker was asked to stop. */
  readonly unexpected: boolean;
  /** Milliseconds; `null`: not replaced, because the gateway stops. */
  readonly replacedAfter: number | null;
}

/** A violation that is only reported. Holds no values. */
export interface ContractFaultEvent {
  readonly type: 'contract.fault';
  readonly id: string;
  readonly operation: string;
  readonly side: 'request' | 'response';
  /** The number of all faults; `faults` has the first. */
  readonly count: number;
  readonly faults: readonly (ReportedFault & Pick<Fault, 'message'>)[];
}

export type Observe = (event: Event) => void;

/** If a listener fails, the others still get the event and the client its response. */
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

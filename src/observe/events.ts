import { inspect } from 'node:util';
import type { Health } from '@storegate/admin-api';
import type { Fault } from '@storegate/openapi';
import type { Admission, Readings } from '../limits/admission.ts';
import type { BanEscalation, Window } from '../limits/limits.ts';
import type { Scopes } from '../limits/scopes.ts';

/** The fields of each event. Durations are milliseconds. */
interface Events {
  request: RequestEvent;
  outage: { id: string; error: unknown };
  bug: { id: string; error: unknown };
  ban: { id: string; keyId: string; plan: string; until: number };
  'ban.started': { ban: ReportedBan; strike: LastStrike | null };
  /** The first known use of a key. `at`: Unix milliseconds. */
  'key.first_used': { keyId: string; at: number };
  /** A request used the secret from before the last rotation. */
  'key.retiring': { id: string; keyId: string; plan: string };
  /** `dropped`: never delivered. */
  'webhook.delivery': {
    endpoint: string;
    event: string;
    result: 'delivered' | 'failed' | 'dropped';
    count: number;
  };
  'webhook.failing': { endpoint: string; error: string };
  'webhook.recovered': { endpoint: string; failures: number };
  /** Usage that was removed because of its age; it began before `before`, ISO 8601. */
  'usage.expired': { hours: number; days: number; before: string };
  'usage.export_failed': { endpoint: string; error: string };
  /** The billing system refuses this event, which is not exported. `minute`: ISO 8601. */
  'usage.export_refused': {
    endpoint: string;
    error: string;
    id: string;
    account: string;
    minute: string;
    requests: number;
    units: number;
  };
  'usage.export_recovered': { endpoint: string; failures: number };
  /** Bans missing from the log of bans: too many at once, or the gateway stopped. */
  'ban_log.dropped': { count: number };
  /**
   * Lines missing from the log at this place: `duration` after the first write that failed, it
   * works again.
   */
  'log.dropped': { count: number; duration: number; reason: string };
  'reload.done': {
    reason: string;
    changed: readonly string[];
    needRestart: readonly string[];
  };
  'reload.failed': { reason: string; problems: readonly string[] };
  /** Digests, comparable with those of other gateways. */
  'configuration.applied': {
    settings: string;
    plans: string;
    contract: string;
  };
  /** For this gateway alone. `reasons`: the sentences of its findings, the worst first. */
  'health.changed': {
    before: Health['status'];
    status: Health['status'];
    reasons: readonly string[];
  };
  'last_used.write_failed': { error: unknown };
  /**
   * Holds no values. `refused`: the client got 502. `count`: of all faults; `faults` has the first.
   */
  'contract.fault': {
    id: string;
    api: string | null;
    operation: string;
    side: 'request' | 'response';
    refused: boolean;
    count: number;
    faults: readonly (ReportedFault & Pick<Fault, 'message'>)[];
  };
  /** The URL is unreachable. `fetched`: the date of the copy, ISO 8601. */
  'contract.copy_in_use': { url: string; fetched: string; reason: string };
  'contract.copy_failed': { url: string; error: unknown };
  /**
   * Operations that are not enforced because of mistakes in the contract; each with its first
   * mistake.
   */
  'contract.exempted': { operations: readonly string[] };
  /**
   * Operations with requests that the gateway serves itself; each with the path and its setting.
   */
  'contract.hidden': { operations: readonly string[] };
  /** A response has cost more or less than its request was charged. */
  'cost.settled': { result: 'charged' | 'returned' };
  /** A backend reported a cost that is not a number of units. */
  'cost.invalid': { operation: string };
  retry: { id: string; upstream: string; backend: string; error: Error };
  /** The retry budget is used up. */
  'retry.refused': { upstream: string };
  'upstream.down': {
    upstream: string;
    backend: string;
    reason: BackendReason;
    error?: unknown;
  };
  /** `removed`: the settings do not name it any more. */
  'upstream.up': {
    upstream: string;
    backend: string;
    duration: number;
    removed?: true;
  };
  /**
   * The checks of a backend fail, but it stays up because too few others are. Once per series of
   * failures.
   */
  'upstream.check_failed': {
    upstream: string;
    backend: string;
    error?: unknown;
  };
  /** Every state change, also starts and failures of a recovery. */
  'upstream.state': { upstream: string; backend: string };
  'state.outage': { policy: string; error: unknown };
  /** The gateway serves its copy of the shared state. `copyAge` in milliseconds. */
  'state.unavailable_at_start': { reason: string; copyAge: number };
  'state.incompatible': { reason: string };
  'state.recovered': { duration: number };
  'state.responded': { duration: number };
  'state.local_mode': { policy: string };
  /** Redis has other data than this process knows, and may have lost it. */
  'state.data_doubted': { isDoubted: boolean };
  /** The other data is used from now on. */
  'state.data_lost': object;
  'state.connection': { of: 'requests' | 'messages'; isCut: boolean };
  'state.write_failed': { error: unknown };
  'state.write_recovered': object;
  /**
   * The data folder has at least `unknown` keys that Redis does not have. `command` copies them.
   */
  'state.unmigrated_keys': {
    folder: string;
    keys: number;
    unknown: number;
    command: string;
  };
  'state.warning': { warning: string };
  spans: { count: number } & (
    | { result: 'exported' | 'failed' }
    | { result: 'dropped'; reason: 'queue full' | 'stopped' }
  );
  /** The first failure after a success. */
  'otlp.export_failed': { error: unknown };
  /** `dropped` spans were lost. */
  'otlp.export_recovered': { duration: number; dropped: number };
  /** Idle connections, closed for new ones: whether one of their requests had a valid key. */
  'connection.ended': { withKey: number; withoutKey: number };
  /** A connection limit was reached. `address`: of the peer, which may be a balancer. */
  'connection.refused': { reason: 'address' | 'total'; address: string };
  'tls.established': { version: string; resumed: boolean };
  /**
   * `timeout`: not done in `http.headersTimeout`. `plaintext`: HTTP without TLS. `version`: no
   * common version or cipher. `protocol`: not HTTP/1.1. `distrusted`: the client does not trust the
   * certificate.
   */
  'tls.failed': {
    reason:
      | 'closed'
      | 'timeout'
      | 'plaintext'
      | 'version'
      | 'protocol'
      | 'distrusted'
      | 'other';
    address: string;
  };
  'proxy.refused': { reason: string; address: string };
  'tls.warning': { warning: string };
  'worker.started': { worker: number; pid: number };
  /**
   * `unexpected`: not asked to stop. `replacedAfter` `null`: not replaced, because the gateway
   * stops.
   */
  'worker.ended': {
    worker: number;
    pid: number;
    reason: string;
    unexpected: boolean;
    replacedAfter: number | null;
  };
  /** The worker serves until there is a new primary process, then drains and ends. */
  'primary.exited': { inFlight: number };
  started: { url: string; adminUrl: string; state: string };
  stopping: { inFlight: number };
  stopped: { cutOff: number };
}

export type Event = {
  [T in keyof Events]: Readonly<{ type: T } & Events[T]>;
}[keyof Events];

export type EventOf<T extends Event['type']> = Extract<
  Event,
  { readonly type: T }
>;

export type BackendReason =
  | 'unreachable'
  | 'untrusted'
  | 'broken'
  | 'hanging'
  | 'failing'
  | 'statuses'
  | 'check';

/** On the path of a request, in order. */
export const STEPS = [
  'http',
  'pages',
  'authenticate',
  'usage',
  'admit',
  'contract',
  'backend',
] as const;

export type Step = (typeof STEPS)[number];

/** One per request of the public listener, after its response ended in any way. */
export interface RequestEvent {
  readonly type: 'request';
  readonly id: string;
  readonly method: string;
  /** `null`: the default one, or none. */
  readonly api: string | null;
  /**
   * An operation of a contract, or a fixed word, behind the name of its API; safe as a metric
   * label.
   */
  readonly operation: string;
  /** 499: the client closed the connection before the response. */
  readonly status: number;
  readonly complete: boolean;
  readonly code: string | null;
  /** Where a refused or failed request ended; `null`: it succeeded. */
  readonly step: Step | null;
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
  /**
   * Milliseconds; `upstream`: until the head of the backend's response, `null`: no request was
   * sent.
   */
  readonly duration: number;
  readonly upstream: number | null;
  /** Absent if the input never became a request. */
  readonly trace?: RequestTrace;
}

const REPORT = 'report:';

export const isReport = (code: string): boolean => code.startsWith(REPORT);

/** The code of the refusal, also if it is only reported. */
export const refusedIn = (code: string): string =>
  isReport(code) ? code.slice(REPORT.length) : code;

/** In lists and reports: `report:` and the code of a refusal that settings turned into a report. */
export function outcomeCode({ code, trace }: RequestEvent): string | null {
  if (code !== null || trace?.reported == null) return code;
  return `${REPORT}${trace.reported}`;
}

/**
 * Plain values, so that a kept trace does not retain the request's connection, headers or body.
 * Holds nothing that a client sent except `target` and a well-formed `traceparent`.
 */
export interface RequestTrace {
  /** A part of the head, which it would retain: what keeps it copies it (`keptEvent`). */
  readonly target?: string;
  /** The path template of the contract: `/pets/{petId}`. */
  readonly path: string | null;
  readonly subject: string | null;
  /** The message in the response, and the reason, which only operators see. */
  readonly message: string | null;
  readonly reason: string | null;
  /** The first of `faultCount` contract violations. */
  readonly faults: readonly ReportedFault[] | null;
  readonly faultCount: number;
  /** The code of a refusal that settings turned into a report; `null`: no such refusal. */
  readonly reported?: string | null;
  readonly usage: Readings | null;
  /** `null`: nothing to charge, or not reached. */
  readonly admission: Admission | null;
  readonly escalation: BanEscalation | null;
  readonly cost: number;
  readonly scopes: Scopes;
  /** Bytes of the body: declared (`null`: unknown) and received. */
  readonly declared: number | null;
  readonly received: number;
  /** Bytes of the body of the response. */
  readonly sent: number;
  /** Milliseconds since the start; `null`: not reached. */
  readonly authenticated: number | null;
  readonly admitted: number | null;
  readonly forwarded: number | null;
  /** The last backend; `null`: none. */
  readonly backend: BackendName | null;
  /** 55 characters: its own span, or the client's while tracing is off. */
  readonly traceparent: string | null;
  readonly span?: RequestSpan | null;
}

export interface BackendName {
  readonly upstream: string;
  /** Host and port. */
  readonly backend: string;
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
  backend: string | null;
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

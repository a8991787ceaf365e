import { inspect } from 'node:util';

/** What the gateway tells about itself. Code says what happened; listeners (log, metrics) decide what to do with it. */
export type Event =
  | RequestEvent
  | { readonly type: 'outage' | 'bug'; readonly id: string; readonly error: unknown }
  | { readonly type: 'ban'; readonly id: string; readonly keyId: string; readonly plan: string; readonly until: number }
  /** A request came with the secret before the last rotation. */
  | { readonly type: 'key.retiring'; readonly id: string; readonly keyId: string; readonly plan: string }
  | {
      readonly type: 'reload.done';
      readonly reason: string;
      readonly changed: readonly string[];
      readonly needRestart: readonly string[];
    }
  /** Nothing has changed; `problems` has every mistake. */
  | { readonly type: 'reload.refused'; readonly reason: string; readonly problems: readonly string[] }
  | { readonly type: 'uses.unsaved'; readonly error: unknown }
  | ContractFaultEvent
  | { readonly type: 'retry'; readonly id: string; readonly error: Error }
  /** The shared state is away, or some part of it; what happens to requests meanwhile is the policy's. */
  | { readonly type: 'state.outage'; readonly policy: string; readonly error: unknown }
  /** All of it is back; `after` milliseconds. */
  | { readonly type: 'state.recovered'; readonly after: number }
  /** A request was decided without the shared state. */
  | { readonly type: 'state.alone'; readonly policy: string }
  | { readonly type: 'state.warning'; readonly warning: string }
  | { readonly type: 'worker.started'; readonly worker: number; readonly pid: number }
  | WorkerEndedEvent
  /** The primary process gives no answers in time: this worker counts failures of callers by itself. */
  | { readonly type: 'primary.silent'; readonly error: unknown }
  | { readonly type: 'primary.heard' }
  /** The primary process is gone: this worker finishes what it has begun, and ends. */
  | { readonly type: 'primary.gone'; readonly inFlight: number }
  | { readonly type: 'started'; readonly url: string; readonly adminUrl: string; readonly state: string }
  | { readonly type: 'stopping'; readonly inFlight: number }
  | { readonly type: 'stopped'; readonly cutOff: number };

/** One for each request of the public listener, when its answer is done with, however that ended. */
export interface RequestEvent {
  readonly type: 'request';
  readonly id: string;
  readonly method: string;
  /** The operation of the contract, `mount <path>`, or a fixed word for everything else: safe as a metric label. */
  readonly operation: string;
  /** 499 where the caller left before it was answered. */
  readonly status: number;
  /** Whether the whole answer went out; not so when either side went away. */
  readonly complete: boolean;
  readonly code: string | null;
  readonly verdict: string | null;
  readonly keyId: string | null;
  readonly account: string | null;
  readonly plan: string | null;
  readonly address: string;
  /** Milliseconds; `upstream` until the head of the store's answer, `null` when it was not asked. */
  readonly duration: number;
  readonly upstream: number | null;
}

/** A worker has ended without being told to by its primary process. */
export interface WorkerEndedEvent {
  readonly type: 'worker.ended';
  readonly worker: number;
  readonly pid: number;
  /** Such as `signal SIGKILL` or `code 1`; or why the primary process gave it up. */
  readonly reason: string;
  /** Not so where somebody had asked it to stop: then it left nothing undone. */
  readonly unexpected: boolean;
  /** Milliseconds until another one takes its place; `null`: none does, for the gateway stops. */
  readonly replacedAfter: number | null;
}

/** A request or an answer that does not fit the contract, where that is only told. Holds no values. */
export interface ContractFaultEvent {
  readonly type: 'contract.fault';
  readonly id: string;
  readonly operation: string;
  readonly side: 'request' | 'response';
  /** All that were found; `faults` has the first of them. */
  readonly count: number;
  readonly faults: readonly { readonly in: string; readonly pointer: string; readonly message: string }[];
}

export type Observe = (event: Event) => void;

/** Tells each listener in turn. One that fails costs nobody else the event, and no request its answer. */
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

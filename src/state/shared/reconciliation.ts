import { createDelayedRun } from '../../common/delayed-run.ts';
import type { CircuitBreakers } from './circuit-breakers.ts';
import type { PendingReconciliation } from './last-known-counters.ts';
import type { LocalCounters } from './local-counters.ts';
import type { RemoteState } from './remote-state.ts';

/** Requests have priority. */
const MAX_IN_FLIGHT = 50;
/** Milliseconds until a rejected reconciliation is sent again. */
const RETRY_DELAY = 1_000;

interface ReconcilerOptions {
  readonly remote: Pick<RemoteState, 'charge'>;
  readonly local: LocalCounters;
  readonly breakers: CircuitBreakers;
  readonly changed: (subject: string) => void;
}

/**
 * Adds local counts to Redis. A reconciliation without a response is sent again under its
 * number before the subject's next one. Redis adds each number once.
 */
export function createReconciler({
  local,
  breakers,
  remote,
  changed,
}: ReconcilerOptions) {
  /** In sending order. */
  const queues = new Map<string, PendingReconciliation[]>();
  const running = new Map<string, Promise<boolean>>();
  const next = createDelayedRun(() => void sendAll(), RETRY_DELAY);

  function has(subject: string) {
    return local.has(subject) || (queues.size > 0 && queues.has(subject));
  }

  /** Returns whether Redis accepted any. */
  function sendOne(subject: string) {
    return running.get(subject) ?? send(subject);
  }

  /** Sends everything except to unreachable shards, and retries the rest later. */
  async function sendAll() {
    const subjects = [...new Set([...queues.keys(), ...local.subjects()])];
    for (let at = 0; at < subjects.length; at += MAX_IN_FLIGHT) {
      await Promise.all(
        subjects.slice(at, at + MAX_IN_FLIGHT).map(async (subject) => {
          while (!breakers.of(subject).isOpen && (await sendOne(subject)));
        }),
      );
    }
    const isLeft = (subject: string) =>
      has(subject) && !breakers.of(subject).isOpen;
    if (subjects.some(isLeft)) sendLater();
  }

  /** Sends everything in a second, for subjects that may never send another request. */
  function sendLater() {
    next.plan();
  }

  function send(subject: string) {
    const taken = queues.has(subject) ? null : local.take(subject);
    if (taken) queues.set(subject, [taken]);
    const due = queues.get(subject)?.[0];
    if (!due) return Promise.resolve(false);
    const breaker = breakers.of(subject);
    const sending = remote.charge(subject, due.limits, due.reconciliation).then(
      () => {
        running.delete(subject);
        const remaining = queues.get(subject)!.slice(1);
        if (remaining.length === 0) queues.delete(subject);
        else queues.set(subject, remaining);
        changed(subject);
        return true;
      },
      (error) => {
        running.delete(subject);
        breakers.recordFailure(breaker, error);
        return false;
      },
    );
    running.set(subject, sending);
    return sending;
  }

  return {
    /** Includes those that still grow. */
    get size() {
      return queues.size + local.size;
    },
    /** Adds reconciliations of an earlier process or of earlier limits. */
    add(subject: string, dues: readonly PendingReconciliation[]) {
      if (dues.length > 0)
        queues.set(subject, [...(queues.get(subject) ?? []), ...dues]);
    },
    /** Includes current counts. */
    dues(subject: string): readonly PendingReconciliation[] {
      const own = local.due(subject);
      return [...(queues.get(subject) ?? []), ...(own ? [own] : [])];
    },
    subjects(): Iterable<string> {
      return queues.keys();
    },
    has,
    sendOne,
    sendAll,
    sendLater,
    async close() {
      next.close();
      await sendAll();
    },
  };
}

import { SECOND } from '../common/time.ts';
import { sumIn } from './names.ts';
import type { Commit, UsageSource } from './store.ts';
import { type Value, valueUnder } from './value.ts';

/** Milliseconds after which no further sum is sent: with its attempt, less than a turn. */
const SENDING = 10 * SECOND;

/**
 * `accepted`: all of it, but what was set aside; `empty`: nothing in it is exported. `refused`: the
 * billing system refuses the content. `waits`: try later.
 */
export type Sent = 'accepted' | 'empty' | 'refused' | 'waits';

/**
 * `name`: the same for each attempt of any gateway, and of nothing else. `accepts`: whether the
 * billing system accepts others, so that what it refuses may be set aside.
 */
export type SendUsage = (
  name: string,
  value: Value,
  accepts: boolean,
) => Promise<Sent>;

interface PendingExportsOptions {
  readonly store: UsageSource;
  readonly sendUsage: SendUsage;
  readonly damaged: (damage: string) => void;
}

/**
 * Parts of minutes that wait for their export. They are stored together with the minute that takes
 * the same parts, and never change, so each part is in exactly one of them.
 */
export function createPendingExports({
  damaged,
  store,
  sendUsage,
}: PendingExportsOptions) {
  async function sendOne(name: string, accepts: boolean): Promise<Sent> {
    const [bytes] = await store.read([name]);
    if (bytes == null) return 'empty';
    return await sendUsage(name, valueUnder(name, bytes, damaged), accepts);
  }

  return {
    /**
     * Sends the oldest first, until the billing system accepts no more or the time
     * is up. If it refuses the content of one, the newest follow, and then again
     * what it has refused. Resolves with the begin of what still waits, Unix
     * milliseconds; `null`: nothing waits.
     */
    async send(commit: Commit): Promise<number | null> {
      const end = performance.now() + SENDING;
      const { sizes } = await store.index();
      const pending = [...sizes.keys()].flatMap((name) => {
        const sum = sumIn(name);
        return sum?.kind === 'x' ? [{ minute: sum.start, name }] : [];
      });
      pending.sort((one, other) => one.minute - other.minute);
      const refused: typeof pending = [];
      let accepts = false;
      while (pending.length > 0 && performance.now() < end) {
        const next = pending.shift()!;
        const sent = await sendOne(next.name, accepts);
        if (sent === 'waits') {
          pending.push(next);
          break;
        }
        if (sent === 'refused') {
          refused.push(next);
          if (refused.length === 1) pending.reverse();
          continue;
        }
        await commit(new Map([[next.name, null]]), new Map());
        if (sent === 'empty') continue;
        accepts = true;
        pending.unshift(...refused.splice(0));
      }
      const waiting = [...pending, ...refused].map(({ minute }) => minute);
      return waiting.length === 0 ? null : Math.min(...waiting);
    },
  };
}

export type PendingExports = ReturnType<typeof createPendingExports>;

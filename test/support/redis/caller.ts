import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { RedisSettings } from '../../../src/config/config.ts';
import { remainingIn } from '../../../src/limits/admission.ts';
import type { Limits } from '../../../src/limits/limits.ts';
import { openRedis } from '../../../src/records/redis/open.ts';
import type { Storage } from '../../../src/records/storage.ts';
import { KEPT } from '../audit.ts';

/** Milliseconds after a refusal. */
const PAUSE = 5;

export interface Orders {
  readonly settings: RedisSettings;
  readonly subjects: readonly string[];
  readonly limits: Limits;
  readonly callers: number;
  /**
   * Requests of all clients together for each subject, or the number of successive windows to run
   * for.
   */
  readonly requests: number | { readonly windows: number };
}

/** The remaining units and reset time are those of the first window. */
export type Admitted = readonly [subject: string, remaining: number, resetAt: number];

export interface CallerReport {
  readonly admitted: readonly Admitted[];
  readonly outages: number;
}

process.on('message', async (orders: Orders | 'go') => {
  if (orders === 'go') return;
  let outages = 0;
  const gateway = await openRedis(orders.settings, {
    audit: KEPT,
    observe: ({ type }) => {
      if (type === 'state.local_mode') outages++;
    },
  });
  process.send?.('ready');
  await once(process, 'message');
  const admitted = await admittedOf(orders, gateway);
  await gateway.close();
  process.send?.({ admitted, outages } satisfies CallerReport);
});

async function admittedOf(
  { requests, subjects, limits, callers }: Orders,
  { state }: Storage,
): Promise<Admitted[]> {
  const admitted: Admitted[] = [];
  const windows = new Set<number>();
  let sent = 0;
  const isDone = () =>
    typeof requests === 'number'
      ? sent >= requests * subjects.length
      : windows.size > requests.windows;
  async function call(): Promise<void> {
    while (!isDone()) {
      const subject = subjects[sent++ % subjects.length]!;
      const { verdict, readings } = await state.admit(subject, limits, 1);
      windows.add(readings[0]!.resetAt);
      if (verdict === 'admitted')
        admitted.push([subject, remainingIn(readings[0]!), readings[0]!.resetAt]);
      // Known refusals return at once, so without a pause nothing else would run.
      else await setTimeout(PAUSE);
    }
  }
  await Promise.all(Array.from({ length: callers }, call));
  return admitted;
}

import type { RedisSettings } from '../../../src/config/config.ts';
import type { Limits } from '../../../src/limits/limits.ts';
import { openRedis } from '../../../src/state/redis/open.ts';
import { KEPT } from '../audit.ts';

/** The task of one gateway process: a number of callers, each sending its requests one after the other. */
export interface Orders {
  readonly settings: RedisSettings;
  readonly subjects: readonly string[];
  readonly limits: Limits;
  readonly callers: number;
  /** Requests of all callers together for each subject, or the number of successive windows to run for. */
  readonly requests: number | { readonly windows: number };
}

/** One admitted request: its subject, and the remaining units and reset time of the first window. */
export type Admitted = readonly [subject: string, remaining: number, resetAt: number];

const orders = JSON.parse(process.argv[2]!) as Orders;
let outages = 0;
const gateway = await openRedis(orders.settings, {
  audit: KEPT,
  observe: ({ type }) => {
    if (type === 'state.alone') outages++;
  },
});
process.stdout.write('ready\n');
process.stdin.once('data', async () => {
  const { requests, subjects } = orders;
  const admitted: Admitted[] = [];
  const windows = new Set<number>();
  let sent = 0;
  const isDone = () =>
    typeof requests === 'number' ? sent >= requests * subjects.length : windows.size > requests.windows;
  async function call(): Promise<void> {
    while (!isDone()) {
      const subject = subjects[sent++ % subjects.length]!;
      const { verdict, readings } = await gateway.state.admit(subject, orders.limits, 1);
      windows.add(readings[0]!.resetAt);
      if (verdict === 'admitted') admitted.push([subject, readings[0]!.remaining, readings[0]!.resetAt]);
      // Known refusals return at once, so without this pause nothing else would run.
      else await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await Promise.all(Array.from({ length: orders.callers }, call));
  await gateway.close();
  process.stdout.write(JSON.stringify({ admitted, outages }), () => process.exit());
});

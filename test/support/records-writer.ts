import type { RedisSettings } from '../../src/config/config.ts';
import { recordsInFile } from '../../src/records/embedded/records.ts';
import { IdempotencyConflict } from '../../src/records/operators/audit-log.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { KEPT } from './audit.ts';
import { keyRecord, note } from './records.ts';
import { connectRecords } from './redis/records.ts';

/** Changes that are made at once. */
const AT_ONCE = 10;

/** Changes with these numbers, of records in a folder, or in Redis with a copy in the folder. */
export interface WriterOrders {
  readonly folder: string;
  readonly redis: RedisSettings | null;
  readonly numbers: readonly number[];
}

/** A process that makes changes, each under a name, and sends the number of each that is made. */
process.on('message', async ({ folder, redis, numbers }: WriterOrders) => {
  const { auditLog, keys } =
    redis === null
      ? recordsInFile(openStateFile(folder), KEPT)
      : (await connectRecords(redis)).open({ folder }).records;
  const remaining = [...numbers];

  async function make(): Promise<void> {
    for (let number = remaining.shift(); number !== undefined; number = remaining.shift()) {
      const name = `change ${number}`;
      const by = note({ target: name, after: process.pid }, name);
      try {
        await keys.add(keyRecord({ id: `key_${number}`, hash: `hash-${number}` }), by);
      } catch (error) {
        // It was made, and the answer was lost.
        if (!(error instanceof IdempotencyConflict)) throw error;
        if ((await auditLog.resultOf(name, 1_000)) === null) throw error;
      }
      process.send!(number);
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, make));
  process.disconnect();
  process.exit();
});

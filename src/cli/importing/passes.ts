import type { ImportReport } from '@storegate/console';
import { CallError, type Sent } from '../connect/api.ts';
import { Batch } from './batch.ts';
import { type Defaults, type FieldError, type ReadKey, readKey } from './key-fields.ts';
import { type BadRow, bad, type Read } from './rows.ts';

/** Mistakes that are told; the others are counted. */
export const MOST_PRINTED = 50;

/** What became of the keys of a file. */
export interface Tally {
  /** In a dry run, how many would be. */
  imported: number;
  /** Keys that were there and say the same. */
  already: number;
  /** Rows that cannot be taken over. */
  bad: number;
  /** The first `MOST_TOLD` mistakes. A row may have several. */
  readonly printed: BadRow[];
  /** How many mistakes there are beyond those. */
  omitted: number;
  /** Whether the file has secrets themselves. */
  hadSecrets: boolean;
}

interface Caller {
  call(method: string, path: string, sent?: Sent): Promise<unknown>;
}

export interface Manner {
  /** Check everything and change nothing. */
  readonly dryRun?: boolean;
  /** Take the good keys of a call although others of it are bad. */
  readonly skipBad?: boolean;
}

/**
 * Sends the keys of a file to the admin API, one call after the other. Of the file it keeps the keys of one call, and of each
 * key its hash and place. Throws CallError where a call fails, and says where; what earlier calls have done stays.
 */
export async function sendKeys(
  api: Caller,
  rows: AsyncIterable<Read>,
  defaults: Defaults,
  manner: Manner,
): Promise<Tally> {
  const tally: Tally = { imported: 0, already: 0, bad: 0, printed: [], omitted: 0, hadSecrets: false };
  const seen = new Map<string, string>();
  let batch = new Batch();

  async function send(): Promise<void> {
    const { keys } = batch;
    if (keys.length > 0) {
      const body = { keys: keys.map((key) => key.body), ...manner };
      const answer = await orStop(() => api.call('POST', '/keys/import-many', { body }));
      tally.imported += answer.imported;
      tally.already += answer.already;
      for (const { index, field, message } of answer.bad) {
        const { at, row } = keys[index]!;
        batch.refuse(row, bad(at, field, message));
      }
    }
    print(tally, batch);
    batch = new Batch();
  }

  /** Says how far the import has come. */
  async function orStop(call: () => Promise<unknown>): Promise<ImportReport> {
    try {
      return (await call()) as ImportReport;
    } catch (error) {
      if (!(error instanceof CallError) || manner.dryRun) throw error;
      const [first, last] = [batch.keys[0]!.at, batch.keys.at(-1)!.at];
      const message = `${error.message} It stopped at ${first} to ${last}: ${tally.imported} keys before are imported and stay. Repeat the command to go on: what is there already is not imported again.`;
      throw new CallError(message, { failure: error.failure, cause: error });
    }
  }

  function take(row: number, at: string, key: ReadKey | FieldError[]): void {
    if (Array.isArray(key)) {
      for (const { field, message } of key) batch.refuse(row, bad(at, field, message));
      return;
    }
    tally.hadSecrets ||= key.hadSecret;
    // As few bytes as a string can keep it in.
    const hash = Buffer.from(key.body.hash, 'base64url').toString('latin1');
    const before = seen.get(hash);
    if (before !== undefined) {
      batch.refuse(row, bad(at, 'hash', `is the same key as ${before}`));
    } else {
      seen.set(hash, at);
      batch.add({ at, row, body: key.body });
    }
  }

  let row = 0;
  for await (const read of rows) {
    row++;
    if ('message' in read) batch.refuse(row, read);
    else take(row, read.at, readKey(read.fields, defaults));
    if (batch.isFull) await send();
  }
  await send();
  return tally;
}

/** In the order of the file. */
function print(tally: Tally, { refused }: Batch): void {
  tally.bad += new Set(refused.map(({ row }) => row)).size;
  for (const { flaw } of refused.sort((a, b) => a.row - b.row)) {
    if (tally.printed.length < MOST_PRINTED) tally.printed.push(flaw);
    else tally.omitted++;
  }
}

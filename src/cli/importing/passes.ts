import type { ImportReport, ManyImportedKeys } from '@storegate/admin-api';
import { plural } from '@storegate/admin-api/text';
import { CommandError, LostChange } from '../connect/api.ts';
import {
  type Defaults,
  type FieldError,
  type KeyBody,
  type ReadKey,
  readKey,
} from './key-fields.ts';
import type { BadRow, Read } from './rows.ts';

const MAX_PROBLEMS = 50;
/**
 * Per call, less than the API allows: a gateway with embedded state serves no request meanwhile.
 */
const MAX_KEYS = 250;
const MAX_BYTES = 180_000;
const MAX_REFUSED = 1_000;

export interface Tally {
  /** In a dry run: that would be. */
  imported: number;
  /** Keys that exist with the same fields. */
  already: number;
  bad: number;
  /** A row may have several. */
  readonly problems: BadRow[];
  moreProblems: number;
  hadSecrets: boolean;
}

export type ImportMany = (body: ManyImportedKeys) => Promise<ImportReport>;

export type Mode = Pick<ManyImportedKeys, 'dryRun' | 'skipBad'>;

/** Throws CommandError with the place if a call fails; keys of earlier calls stay imported. */
export async function sendKeys(
  importMany: ImportMany,
  rows: Iterable<Read>,
  defaults: Defaults,
  mode: Mode,
): Promise<Tally> {
  const tally: Tally = {
    imported: 0,
    already: 0,
    bad: 0,
    problems: [],
    moreProblems: 0,
    hadSecrets: false,
  };
  const seen = new Map<string, number>();
  let batch = new Batch();

  async function send(): Promise<void> {
    const { keys, refused } = batch;
    if (keys.length > 0) {
      const body = { keys: keys.map((key) => key.body), ...mode };
      const response = await withProgress(() => importMany(body));
      tally.imported += response.imported;
      tally.already += response.already;
      for (const { index, field, message } of response.bad)
        refused.push({ line: keys[index]!.line, field, message });
    }
    addProblems(tally, refused);
    batch = new Batch();
  }

  async function withProgress(
    call: () => Promise<ImportReport>,
  ): Promise<ImportReport> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof CommandError) || mode.dryRun) throw error;
      const [first, last] = [batch.keys[0]!.line, batch.keys.at(-1)!.line];
      const place = `The import stopped at lines ${first} to ${last} after ${plural(tally.imported, 'key')}.`;
      // Keys that were imported count as existing, so the command needs no Idempotency-Key.
      const { message: reason } =
        error instanceof LostChange ? error.lost : error;
      const message = `${reason} ${place} Run the command again to continue.`;
      throw new CommandError(message, { failure: error.failure, cause: error });
    }
  }

  function take(line: number, key: ReadKey | FieldError[]): void {
    if (Array.isArray(key)) {
      batch.refused.push(...key.map((error) => ({ line, ...error })));
      return;
    }
    tally.hadSecrets ||= key.hadSecret;
    const hash = Buffer.from(key.body.hash, 'base64url').toString('latin1');
    const before = seen.get(hash);
    if (before === undefined) {
      seen.set(hash, line);
      batch.add(line, key.body);
    } else {
      const message = `is the same key as line ${before}`;
      batch.refused.push({ line, field: 'hash', message });
    }
  }

  for (const row of rows) {
    if ('message' in row) batch.refused.push(row);
    else take(row.line, readKey(row.fields, defaults));
    if (batch.isFull) await send();
  }
  await send();
  return tally;
}

class Batch {
  readonly keys: { readonly line: number; readonly body: KeyBody }[] = [];
  readonly refused: BadRow[] = [];
  #bytes = 0;

  /** No key is larger than the rest of a body. */
  get isFull(): boolean {
    return (
      this.keys.length >= MAX_KEYS ||
      this.#bytes >= MAX_BYTES ||
      this.refused.length >= MAX_REFUSED
    );
  }

  add(line: number, body: KeyBody): void {
    this.keys.push({ line, body });
    this.#bytes += Buffer.byteLength(JSON.stringify(body));
  }
}

function addProblems(tally: Tally, refused: BadRow[]): void {
  tally.bad += new Set(refused.map(({ line }) => line)).size;
  for (const one of refused.sort((a, b) => a.line - b.line)) {
    if (tally.problems.length < MAX_PROBLEMS) tally.problems.push(one);
    else tally.moreProblems++;
  }
}

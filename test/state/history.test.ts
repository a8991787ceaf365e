import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MINUTE } from '../../src/common/time.ts';
import { History } from '../../src/observe/history/history.ts';
import { ALL, packMinute } from '../../src/observe/history/minute.ts';
import { Packing } from '../../src/observe/history/packing.ts';
import { COLUMNS } from '../../src/observe/history/row.ts';
import { type StoredHistory, storeHistory } from '../../src/state/history/folder.ts';
import { replaceJournal } from '../../src/state/journal/replace.ts';
import { temporaryFolders } from '../support/temporary.ts';

const NOON = Date.UTC(2026, 0, 1, 12);

const folder = temporaryFolders();
const minute = (start: number) =>
  packMinute({
    start,
    policies: 0,
    rows: new Map([[ALL, new Uint32Array(COLUMNS).fill(7, 3, 4)]]),
  });

const open: StoredHistory[] = [];
afterEach(async () => {
  for (const kept of open.splice(0)) await kept.close();
});

function keeping(at: string) {
  const history = new History();
  const errors: string[] = [];
  const kept = storeHistory(at, history, (error) => void errors.push((error as Error).message));
  if (kept) open.push(kept);
  return { history, errors, kept, add: (start: number) => kept?.mark(history.add(minute(start))) };
}

async function closed({ kept }: ReturnType<typeof keeping>): Promise<void> {
  open.splice(open.indexOf(kept!), 1);
  await kept!.close();
}

describe('a history in a folder', () => {
  test('is continued by the next one, each minute in its last form', async () => {
    const at = folder();
    const first = keeping(at);
    for (let i = 0; i < 5; i++) first.add(NOON + i * MINUTE);
    first.add(NOON);
    await closed(first);
    const second = keeping(at);
    expect([...second.history.minutes.keys()].sort()).toEqual(
      [0, 1, 2, 3, 4].map((i) => NOON + i * MINUTE),
    );
    expect(second.history.minutes.get(NOON)).toEqual(first.history.minutes.get(NOON));
    second.add(NOON + 5 * MINUTE);
    await closed(second);
    const { history, errors } = keeping(at);
    expect([history.minutes.size, errors]).toEqual([6, []]);
  });

  test('is that of one gateway: another one there has its own', async () => {
    const at = folder();
    const [one, other] = [keeping(at), keeping(at)];
    one.add(NOON);
    expect([one.errors, other.errors]).toEqual([[], []]);
    await closed(one);
    await closed(other);
    expect(keeping(at).history.minutes.size).toBe(1);
    expect(keeping(at).history.minutes.size).toBe(0);
  });

  test('is reported, and not kept, if there are too many', () => {
    const at = folder();
    const all = Array.from({ length: 9 }, () => keeping(at));
    expect(all.map(({ kept }) => kept !== null)).toEqual([...Array(8).fill(true), false]);
    expect(all.at(-1)!.errors).toEqual(['too many processes keep theirs there']);
  });

  test('is reported, and not kept, if a folder cannot be created', () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    const { kept, errors } = keeping(join(file, 'data'));
    expect([kept, errors.length]).toEqual([null, 1]);
  });

  test('is reported, and not kept, if something else has its name', async () => {
    const at = folder();
    writeFileSync(join(at, 'history.1.1.log'), 'somebody else wrote this');
    const { kept, errors } = keeping(at);
    expect([kept, errors]).toEqual([
      null,
      [expect.stringContaining('history.1.1.log is not a journal of history.1')],
    ]);
    // Its place is free again.
    expect(keeping(at).errors).toHaveLength(1);
  });

  test('skips minutes that it does not understand, and reports them', () => {
    const at = folder();
    const newer = Buffer.from(minute(NOON));
    newer[0] = 99;
    const packing = new Packing();
    for (const [start, bytes] of [
      [NOON, newer],
      [NOON + MINUTE, minute(NOON + MINUTE)],
    ] as const) {
      packing.number(start);
      packing.part(bytes);
    }
    replaceJournal(at, 'history.1', [packing.bytes, Buffer.from([0xff])]);
    const { history, errors } = keeping(at);
    expect([...history.minutes.keys()]).toEqual([NOON + MINUTE]);
    expect(errors).toEqual([
      expect.stringMatching(
        /history\.1\.1\.log has minutes that are not understood: a number is cut off/,
      ),
      'history.1 has a minute that is not understood: its format is 99',
    ]);
  });

  test('leaves few files, which only their owner may read', async () => {
    const at = folder();
    for (let i = 0; i < 12; i++) {
      const one = keeping(at);
      one.add(NOON + i * MINUTE);
      await closed(one);
    }
    expect(keeping(at).history.minutes.size).toBe(12);
    const files = readdirSync(at).filter((name) => name.endsWith('.log'));
    expect(files.length).toBeLessThanOrEqual(9);
    for (const file of files) expect(statSync(join(at, file)).mode & 0o077).toBe(0);
  });
});

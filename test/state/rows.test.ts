import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pendingRowsIn } from '../../src/state/rows/pending-rows.ts';
import { openRowFile, type RowValue, rowsIn } from '../../src/state/rows/row-file.ts';
import { createRowWriter, RowWriteError, type RowWriter } from '../../src/state/rows/row-writer.ts';
import { createRows, type Rows } from '../../src/state/rows/rows.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const folderOf = temporaryFolders();
let folder: string;
beforeEach(() => {
  folder = folderOf();
});

function onDisk(kind = 'things'): Record<string, RowValue> {
  const db = openRowFile(folder);
  try {
    return Object.fromEntries(rowsIn(db, kind));
  } finally {
    db.close();
  }
}

/** Another process that keeps every row from being written until it ends. */
function refuse(reason = 'the disk is full'): DatabaseSync {
  const db = openRowFile(folder);
  for (const event of ['INSERT', 'UPDATE'])
    db.exec(
      `CREATE TRIGGER refuse_${event} BEFORE ${event} ON rows BEGIN SELECT RAISE(ABORT, '${reason}'); END`,
    );
  return db;
}

function allow(db: DatabaseSync): void {
  db.exec('DROP TRIGGER refuse_INSERT; DROP TRIGGER refuse_UPDATE');
  db.close();
}

describe('rows of a map', () => {
  let map: Map<string, string>;
  let events: string[];
  let writer: RowWriter;
  let rows: Rows;
  beforeEach(() => {
    map = new Map();
    events = [];
    writer = createRowWriter(folder);
    rows = createRows<string>(
      writer,
      'things',
      { read: (name) => map.get(name), rowOf: (value) => value },
      {
        unsaved: (error) => events.push((error as Error).message),
        saved: () => events.push('saved'),
      },
    );
  });
  afterEach(async () => {
    await rows.close();
    await writer.close();
  });

  function set(name: string, value: string | null): void {
    if (value === null) map.delete(name);
    else map.set(name, value);
    rows.mark(name);
  }

  test('have what was marked, as it is when it is written, well within a second', async () => {
    set('a', '1');
    set('b', '1');
    set('a', '2');
    await until('it is written', () => onDisk().a === '2');
    set('b', null);
    await rows.flush();
    expect(onDisk()).toEqual({ a: '2' });
  });

  test('of different kinds do not touch each other', async () => {
    writer.put('others', ['a'], [Buffer.from('bytes')]);
    set('a', '1');
    await rows.flush();
    expect(onDisk()).toEqual({ a: '1' });
    expect(onDisk('others')).toEqual({ a: new Uint8Array(Buffer.from('bytes')) });
  });

  test('of any number are written in parts', async () => {
    for (let i = 0; i < 25_000; i++) set(`n${i}`, `${i}`);
    await rows.close();
    expect(Object.keys(onDisk())).toHaveLength(25_000);
  });

  test('are written later if they cannot be, and that is reported once', async () => {
    const full = refuse();
    set('a', '1');
    await expect(rows.flush()).rejects.toThrow(RowWriteError);
    set('b', '1');
    await expect(rows.flush()).rejects.toThrow('the disk is full');
    set('a', '2');
    allow(full);
    await until('they are written', () => isDeepStrictEqual(onDisk(), { a: '2', b: '1' }));
    await until('that is reported', () => events.length > 1);
    expect(events).toEqual(['the disk is full', 'saved']);
  });

  test('have one that is written at once when that resolves', async () => {
    map.set('b', '1');
    await rows.write('b');
    expect(onDisk()).toEqual({ b: '1' });
  });

  test('do not get a change that was refused, also if it waits with others', async () => {
    set('a', '1');
    await rows.flush();
    const full = refuse();
    map.set('a', 'refused');
    set('b', '1');
    await expect(rows.write('a')).rejects.toThrow(RowWriteError);
    // Its caller takes it back.
    map.set('a', '1');
    allow(full);
    await rows.close();
    expect(onDisk()).toEqual({ a: '1', b: '1' });
  });
});

type Step =
  | { readonly put: Readonly<Record<string, string | null>> }
  | { readonly write: readonly [name: string, value: string | null] }
  | { readonly commit: boolean };

test('after a crash at any time the file has what was answered, and nothing older', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const value = fc.option(fc.string({ maxLength: 3 }));
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ put: fc.dictionary(name, value, { noNullPrototype: true }) }),
    fc.record({ write: fc.tuple(name, value) }),
    fc.record({ commit: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      folder = folderOf();
      const rows = pendingRowsIn(folder);
      const sent: Record<string, string | null> = {};
      let answered: Record<string, string | null> = {};
      let number = 0;
      for (const one of steps) {
        if ('put' in one) {
          const names = Object.keys(one.put);
          rows.handle({ type: 'put', kind: 'things', names, values: Object.values(one.put) });
          Object.assign(sent, one.put);
          continue;
        }
        const request =
          'write' in one
            ? ({ type: 'write', kind: 'things', rows: new Map([one.write]) } as const)
            : ({ type: 'commit' } as const);
        if ('write' in one) sent[one.write[0]] = one.write[1];
        const full = 'commit' in one && !one.commit ? refuse() : null;
        const response = rows.handle({ ...request, number: ++number });
        if (full) allow(full);
        expect(response?.number).toBe(number);
        if (response?.error === null) answered = { ...sent };
      }
      const remaining = Object.entries(answered).filter(([, value]) => value !== null);
      const now = onDisk();
      expect(now).toEqual(Object.fromEntries(remaining));
      rows.handle({ type: 'close', number: 0 });
    }),
    { numRuns: 30 },
  );
});

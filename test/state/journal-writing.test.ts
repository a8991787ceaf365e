import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Compactor, createCompactor } from '../../src/state/journal/compactor.ts';
import {
  createJournal,
  type Journal,
  type JournalOptions,
  JournalWriteError,
} from '../../src/state/journal/journal.ts';
import { readJournal } from '../../src/state/journal/read.ts';
import { FailingFiles } from '../support/journal-files.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const folderOf = temporaryFolders();
let folder: string;
let files: FailingFiles;
let reports: string[];
beforeEach(() => {
  folder = folderOf();
  files = new FailingFiles();
  reports = [];
});

/** Reads lines `name=value` into a map. */
class Entries {
  readonly map = new Map<string, string>();
  batch(payload: Buffer): void {
    for (const line of payload.toString().trimEnd().split('\n')) {
      const [name, value] = line.split('=');
      this.map.set(name!, value!);
    }
  }
}

const read = () => readJournal(folder, 'things', () => new Entries());
const onDisk = () => read().reader.map;
const logs = () => readdirSync(folder).sort();

function open(holds: Required<JournalOptions>['holds'] = async () => {}): Journal {
  return createJournal({
    folder,
    name: 'things',
    older: read().generations,
    files,
    holds,
    unsaved: (error) => reports.push((error as Error).message),
    saved: () => reports.push('saved'),
  });
}

describe('the writing side of a journal', () => {
  let journal: Journal;
  let lost: string[];
  beforeEach(() => {
    journal = open();
    lost = [];
  });
  afterEach(() => journal.close());

  const push = (line: string) => journal.push(Buffer.from(`${line}\n`), () => lost.push(line));

  test('has what was pushed on disk when the commit resolves, in a file for its owner alone', async () => {
    push('a=1');
    push('a=2');
    push('b=1');
    await journal.commit();
    expect([...onDisk()]).toEqual([
      ['a', '2'],
      ['b', '1'],
    ]);
    expect(files.steps).toEqual(['create', 'append', 'append', 'sync', 'syncFolder']);
    expect(statSync(join(folder, 'things.1.log')).mode & 0o777).toBe(0o600);
    expect(journal.size).toBe(statSync(join(folder, 'things.1.log')).size);
  });

  test('makes no file before there is something to write', async () => {
    await journal.commit();
    expect(logs()).toEqual([]);
  });

  test('shares one sync among commits that are asked for at the same time', async () => {
    push('a=1');
    const first = journal.commit();
    await Promise.resolve();
    await Promise.resolve();
    const others = ['b=1', 'c=1', 'd=1'].map((line) => {
      push(line);
      return journal.commit();
    });
    await Promise.all([first, ...others]);
    expect(files.steps.filter((step) => step === 'sync')).toHaveLength(2);
    expect(onDisk().size).toBe(4);
  });

  test('never appends to a file of before, whose end may be torn', async () => {
    push('a=1');
    await journal.commit();
    await journal.close();
    journal = open();
    push('a=2');
    await journal.commit();
    expect(logs()).toEqual(['things.1.log', 'things.2.log']);
    expect(onDisk().get('a')).toBe('2');
    await journal.dropOlder();
    expect(logs()).toEqual(['things.2.log']);
    expect(onDisk().get('a')).toBe('2');
  });

  test('names no removed file as needed if a new file is synced while older files are removed', async () => {
    push('a=1');
    await journal.commit();
    await journal.close();
    const named: (readonly number[])[] = [];
    const naming = Promise.withResolvers<void>();
    journal = open(async (numbers) => {
      named.push(numbers);
      await naming.promise;
    });
    const dropped = journal.dropOlder();
    push('a=2');
    const committed = journal.commit();
    await until('the new file is named', () => named.length === 2);
    naming.resolve();
    await Promise.all([dropped, committed]);
    expect(named).toEqual([[], [2]]);
    expect(logs()).toEqual(['things.2.log']);
  });

  test.each(['create', 'append', 'sync', 'syncFolder'] as const)(
    'reports to all that pushed or wait when the step %s fails, and continues in a new file',
    async (step) => {
      files.fails = step;
      push('a=1');
      await expect(journal.commit()).rejects.toThrow(JournalWriteError);
      push('b=1');
      await expect(journal.commit()).rejects.toThrow(JournalWriteError);
      expect(lost).toEqual(['a=1', 'b=1']);
      files.fails = null;
      push('a=2');
      await journal.commit();
      expect(onDisk().get('a')).toBe('2');
      expect(reports).toEqual([`${step} failed`, 'saved']);
      await journal.dropOlder();
      expect(logs()).toHaveLength(1);
    },
  );

  test('keeps what it had written before it failed', async () => {
    push('a=1');
    await journal.commit();
    files.fails = 'append';
    push('a=2');
    await expect(journal.commit()).rejects.toThrow(JournalWriteError);
    files.fails = null;
    push('b=1');
    await journal.commit();
    expect([...onDisk()]).toEqual([
      ['a', '1'],
      ['b', '1'],
    ]);
    expect(logs()).toEqual(['things.1.log', 'things.2.log']);
  });

  test('drops the oldest file first, and stops where one cannot be dropped', async () => {
    for (const line of ['a=1', 'a=2', 'a=3']) {
      journal.begin();
      push(line);
      await journal.commit();
    }
    expect(journal.older).toBe(2);
    files.fails = 'remove';
    await journal.dropOlder();
    expect(logs()).toHaveLength(3);
    expect(reports).toEqual(['remove failed']);
    files.fails = null;
    await journal.dropOlder();
    expect(logs()).toEqual(['things.3.log']);
    expect(journal.size).toBe(statSync(join(folder, 'things.3.log')).size);
  });
});

describe('what keeps entries in a journal', () => {
  let living: Map<string, string>;
  let journal: Journal;
  let keeper: Compactor<string>;
  beforeEach(() => {
    living = new Map();
    start();
  });
  afterEach(() => keeper.close());

  function start(): void {
    journal = open();
    keeper = createCompactor(
      journal,
      {
        get size() {
          return living.size;
        },
        names: () => living.keys(),
        read: (name) => living.get(name),
      },
      linesOf(),
    );
  }

  function put(name: string, value: string): void {
    living.set(name, value);
    keeper.mark(name);
  }

  async function restart(): Promise<void> {
    await keeper.close();
    living = new Map(onDisk());
    start();
  }

  test('writes what changed, and nothing else', async () => {
    for (let i = 0; i < 5_000; i++) put(`n${i}`, 'x'.repeat(100));
    await keeper.flush();
    expect(onDisk()).toEqual(living);
    const before = files.appended;
    put('n7', 'y');
    await keeper.flush();
    expect(onDisk()).toEqual(living);
    expect(files.appended - before).toBeLessThan(100);
    await keeper.flush();
    await keeper.flush();
    expect(files.appended - before).toBeLessThan(100);
  });

  test('by itself, several times a second', async () => {
    put('a', '1');
    await until('the entry is on disk', () => onDisk().get('a') === '1');
    put('a', '2');
    await until('its change is on disk', () => onDisk().get('a') === '2');
  });

  test('without waiting for a disk that is slow to sync', async () => {
    let synced = () => {};
    files.slow = new Promise((resolve) => {
      synced = resolve;
    });
    put('a', '1');
    await until('the entry is in the file', () => onDisk().get('a') === '1');
    put('a', '2');
    await until('its change is in the file', () => onDisk().get('a') === '2');
    let isOnDisk = false;
    const written = keeper.write('a').then(() => {
      isOnDisk = true;
    });
    put('b', '1');
    await until('another is in the file', () => onDisk().get('b') === '1');
    expect(isOnDisk).toBe(false);
    synced();
    await written;
  });

  test('at once where somebody waits for it, in the order in which it changed', async () => {
    for (let i = 0; i < 3_000; i++) put(`n${i}`, '1');
    const beat = keeper.flush();
    living.set('n2999', '2');
    await keeper.write('n2999');
    expect(onDisk().get('n2999')).toBe('2');
    await beat;
    expect(onDisk()).toEqual(living);
  });

  test('again and again while writing fails, and everything is there once it works', async () => {
    put('a', '1');
    await keeper.flush();
    files.fails = 'sync';
    put('a', '2');
    await expect(keeper.flush()).rejects.toThrow(JournalWriteError);
    put('b', '1');
    await expect(keeper.write('b')).rejects.toThrow(JournalWriteError);
    files.fails = null;
    await until('all is on disk', () => onDisk().get('a') === '2' && onDisk().get('b') === '1');
    await until('both are reported', () => reports.length > 1);
    expect(reports).toEqual(['sync failed', 'saved']);
    await until('one file holds it', () => logs().length === 1);
    expect(onDisk()).toEqual(living);
  });

  test('of marked entries too, which are at hand, once more after a failure', async () => {
    living.set('a', '1');
    keeper.markEntry('a', '1');
    const { beat } = keeper;
    files.fails = 'sync';
    await expect(keeper.flush()).rejects.toThrow(JournalWriteError);
    expect(keeper.beat).toBeGreaterThan(beat);
    files.fails = null;
    await keeper.flush();
    expect(onDisk()).toEqual(living);
  });

  test('into a new file after a start, until the older ones can go', async () => {
    for (let i = 0; i < 12_000; i++) put(`n${i}`, '1');
    await restart();
    expect(logs()).toEqual(['things.1.log']);
    put('n1', '2');
    await keeper.flush();
    expect(logs()).toEqual(['things.1.log', 'things.2.log']);
    expect(onDisk()).toEqual(living);
    // Left half-way, it begins again.
    await restart();
    expect(onDisk()).toEqual(living);
    while (logs().length > 1 || logs()[0] === 'things.1.log') await keeper.flush();
    expect(onDisk()).toEqual(living);
    await keeper.flush();
    expect(logs()).toHaveLength(1);
  });

  test('without those that are gone from memory', async () => {
    put('a', '1');
    put('b', '1');
    await restart();
    living.delete('b');
    await keeper.flush();
    expect([...onDisk()]).toEqual([['a', '1']]);
    await keeper.close();
    living.clear();
    start();
    await keeper.flush();
    expect(logs()).toEqual([]);
  });

  test('leaves no crowd of files behind, however often it is started', async () => {
    for (let i = 0; i < 12_000; i++) put(`n${i}`, '1');
    for (let i = 0; i < 30; i++) {
      put('n1', `${i}`);
      await restart();
      expect(logs().length).toBeLessThanOrEqual(10);
      expect(living.get('n1')).toBe(`${i}`);
    }
    expect(living.size).toBe(12_000);
  });

  const sizeOnDisk = () =>
    logs().reduce(
      (sum, file) => sum + (statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );

  test('within a few times the bytes that the entries need', async () => {
    const value = 'x'.repeat(4_000);
    for (let i = 0; i < 1_000; i++) put(`n${i}`, value);
    await keeper.flush();
    const needed = journal.size;
    let largest = 0;
    for (let round = 0; round < 40; round++) {
      for (let i = 0; i < 500; i++) put(`n${(round * 7 + i) % 1_000}`, `${round}${value}`);
      await keeper.flush();
      largest = Math.max(largest, journal.size);
    }
    // A beat of the keeper's own may be writing.
    await until('the journal knows its size', () => journal.size === sizeOnDisk());
    expect(onDisk()).toEqual(living);
    expect(largest).toBeGreaterThan(2 * needed);
    expect(largest).toBeLessThan(6 * needed);
  });

  test('through any order of changes, failures and starts', async () => {
    const steps = ['put', 'put', 'flush', 'write', 'fail', 'work', 'restart'] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...steps), fc.nat(9)), { maxLength: 40 }),
        async (run) => {
          let count = 0;
          for (const [step, n] of run) {
            if (step === 'put') put(`n${n}`, `${count++}`);
            if (step === 'flush') await keeper.flush().catch(expectFailing);
            if (step === 'write' && living.has(`n${n}`))
              await keeper.write(`n${n}`).catch(expectFailing);
            if (step === 'fail') files.fails = (['create', 'append', 'sync'] as const)[n % 3]!;
            if (step === 'work') files.fails = null;
            if (step === 'restart' && files.fails === null) {
              const before = new Map(living);
              await restart();
              expect(living).toEqual(before);
            }
          }
          files.fails = null;
          await keeper.flush();
          expect(onDisk()).toEqual(living);
        },
      ),
      { numRuns: 50 },
    );
  });

  function expectFailing(error: unknown): void {
    expect(error).toBeInstanceOf(JournalWriteError);
    expect(files.fails).not.toBeNull();
  }
});

function linesOf() {
  let lines = '';
  return {
    add(name: string, value: string) {
      lines += `${name}=${value}\n`;
    },
    get size() {
      return lines.length;
    },
    take() {
      const payload = Buffer.from(lines);
      lines = '';
      return payload;
    },
  };
}

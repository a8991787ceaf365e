import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createStore } from '../../src/store/store.ts';
import { closeStores, startStore, startStoreWithPet } from './start-store.ts';

afterEach(closeStores);

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'store-'));
  file = join(folder, 'store.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

function outside<T>(work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(file);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

describe('a restart', () => {
  test('finds everything again', async () => {
    const before = await startStoreWithPet(5, { file });
    await before.send('POST', '/store/orders', {
      petId: 1,
      quantity: 2,
      shipDate: '2026-12-01T09:00:00Z',
    });
    const lists = ['/categories', '/pets', '/store/orders', '/store/inventory'];
    const kept = await Promise.all(
      lists.map(async (path) => (await before.send('GET', path)).text),
    );
    await before.store.close();

    const after = await startStore({ file });
    expect(
      await Promise.all(lists.map(async (path) => (await after.send('GET', path)).text)),
    ).toEqual(kept);
    expect(kept.join()).toContain('"quantity":3');
  });

  test('uses no identifier a second time, and applies firstId only to a new database', async () => {
    const before = await startStoreWithPet(0, { file, firstId: 100n });
    await before.send('DELETE', '/pets/100');
    await before.store.close();
    const after = await startStore({ file, firstId: 5n });
    expect((await after.send('POST', '/pets', { name: 'Rex', categoryId: 100 })).json.id).toBe(101);
  });
});

describe('a database that cannot be used', () => {
  test('is reported in one sentence if it is a folder', () => {
    expect(() => createStore({ file: folder })).toThrow(
      `The store cannot use the database ${folder}: unable to open database file.`,
    );
  });

  test('is reported and left unchanged if it is another file', () => {
    writeFileSync(
      file,
      'a shopping list, longer than the header of a database would be, to be sure '.repeat(20),
    );
    expect(() => createStore({ file })).toThrow(
      /^The store cannot use the database .*: file is not a database\.$/,
    );
  });

  test('is reported and left unchanged if it belongs to another program', () => {
    outside((db) => db.exec('CREATE TABLE notes (text)'));
    expect(() => createStore({ file })).toThrow(/: it belongs to another program\.$/);
    expect(outside((db) => db.prepare('SELECT name FROM sqlite_schema').all())).toEqual([
      { name: 'notes' },
    ]);
  });

  test('is reported if a newer release wrote it', async () => {
    await createStore({ file }).close();
    outside((db) => db.exec('PRAGMA user_version = 1000'));
    expect(() => createStore({ file })).toThrow(
      /: it has schema 1000 of a newer release, this one knows \d+\.$/,
    );
  });
});

describe('the database', () => {
  test('keeps nothing of a transaction that fails', async () => {
    const { store, send } = await startStoreWithPet();
    const work = () => {
      store.records.categories.add({ name: 'Dogs' });
      throw new Error('no');
    };
    expect(() => store.transaction(work)).toThrow('no');
    expect((await send('GET', '/categories')).json).toHaveLength(1);
    expect((await send('POST', '/categories', { name: 'Dogs' })).json.id).toBe(2);
  });

  test('held by another process makes writers retry later, and readers are not affected', async () => {
    const { send } = await startStoreWithPet(1, { file });
    const refused = await (async () => {
      const other = new DatabaseSync(file);
      other.exec('BEGIN IMMEDIATE');
      expect((await send('GET', '/pets/1')).status).toBe(200);
      const answer = await send('POST', '/store/orders', { petId: 1 });
      other.close();
      return answer;
    })();
    expect(refused.json).toMatchObject({ code: 'store_busy', status: 503 });
    expect(refused.headers.get('Retry-After')).toBe('1');
    expect((await send('POST', '/store/orders', { petId: 1 })).status).toBe(201);
  });

  test('if corrupt is an error of the store: the process gets the cause, the client no detail', async () => {
    const failures: Error[] = [];
    const { send } = await startStore({ file, failed: (error) => failures.push(error) });
    outside((db) => db.exec('DROP TABLE pets'));
    expect((await send('GET', '/pets')).json).toEqual({
      code: 'internal_error',
      message: 'Something went wrong in the store.',
      status: 500,
    });
    expect(failures.map(String)).toEqual([expect.stringContaining('no such table')]);
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createStore } from '../../src/store/store.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { closeStores, startStore, startStoreWithPet } from './start-store.ts';

const newFolder = temporaryFolders();
afterEach(closeStores);

let folder: string;
let file: string;
beforeEach(() => {
  folder = newFolder();
  file = join(folder, 'store.db');
});

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

    const after = await startStore(file);
    expect(
      await Promise.all(lists.map(async (path) => (await after.send('GET', path)).text)),
    ).toEqual(kept);
    expect(kept.join()).toContain('"quantity":3');
  });

  test('uses no identifier a second time', async () => {
    const before = await startStoreWithPet(0, { file, id: 100n });
    await before.send('DELETE', '/pets/100');
    await before.store.close();
    const after = await startStore(file);
    expect((await after.send('POST', '/pets', { name: 'Rex', categoryId: 100 })).json.id).toBe(101);
  });
});

describe('a database that cannot be used', () => {
  test('is reported if it is a folder', () => {
    expect(() => createStore(folder)).toThrow('unable to open database file');
  });

  test('is reported and left unchanged if it is another file', () => {
    const text =
      'a shopping list, longer than the header of a database would be, to be sure '.repeat(20);
    writeFileSync(file, text);
    expect(() => createStore(file)).toThrow('file is not a database');
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

test('a corrupt database is an error of the store: the process gets the cause, the client no detail', async () => {
  const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const { store, send } = await startStoreWithPet();
  store.db.exec('DROP TABLE pets');
  expect((await send('GET', '/pets')).json).toEqual({
    code: 'internal_error',
    message: 'Something went wrong in the store.',
    status: 500,
  });
  expect(emitWarning.mock.calls.map(([error]) => String(error))).toEqual([
    expect.stringContaining('no such table'),
  ]);
  emitWarning.mockRestore();
});

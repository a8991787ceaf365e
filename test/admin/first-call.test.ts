import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import { loadContract } from '@storegate/openapi';
import { temporaryFolders } from '../support/temporary.ts';

const newFolder = temporaryFolders();

/** In a process of its own, because the contract is read once. */
const CODE = `
import { adminContract, prepareAdminContract } from '${resolve(import.meta.dirname, '../../src/admin/api.ts')}';
let turns = 0;
const turn = () => { turns++; counting = setImmediate(turn); };
let counting = setImmediate(turn);
await Promise.all([prepareAdminContract(), prepareAdminContract()]);
clearImmediate(counting);
const { document, operations } = adminContract();
console.log(JSON.stringify({ turns, document, ids: operations.map(({ id }) => id) }));`;

test('the first call of the admin API reads its contract while other work goes on', async () => {
  const file = join(newFolder(), 'call.mjs');
  writeFileSync(file, CODE);
  const args = ['--disable-warning=ExperimentalWarning', file];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 });
  const { turns, document, ids } = JSON.parse(stdout);
  // To compile it takes a thousand turns.
  expect(turns).toBeGreaterThan(20);
  const contract = loadContract(ADMIN_CONTRACT);
  expect(document).toEqual(JSON.parse(JSON.stringify(contract.document)));
  expect(ids).toEqual(contract.operations.map(({ id }) => id));
});

import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ContractError } from '@storegate/openapi';
import { checkContract, loadContract } from '../../../src/config/contract/contract.ts';
import { shippedFiles } from '../../../src/config/load.ts';
import { ContractLoader, LoadingEnded } from '../../../src/run/contracts/loader.ts';
import { temporaryFolders } from '../../support/temporary.ts';
import { until } from '../../support/until.ts';
import { orderOf } from './order.ts';

const here = import.meta.dirname;
const broken = (name: string) => resolve(here, `../../../packages/openapi/test/broken/${name}`);
/** Only contracts at a URL have a copy there. */
const NOWHERE = '';
const order = (file: string) => orderOf(file, NOWHERE);
const reader = (name: string, deadline?: number, memory?: number) =>
  new ContractLoader(resolve(here, `readers/${name}.ts`), deadline, memory);

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const data = temporaryFolders()();

async function processOf(loader: ContractLoader): Promise<number> {
  await until('a process reads', () => loader.reading.length > 0);
  return loader.reading[0]!;
}

test('a contract read by another process equals one that is read here', async () => {
  const loader = new ContractLoader();
  const [there, here] = await Promise.all([
    loader.load(order(shippedFiles.contract)),
    loader.loadFirst(orderOf(shippedFiles.contract, data)),
  ]);
  expect(there.contract.json).toBe(here.contract.json);
  expect(there.contract.files).toEqual(here.contract.files);
  expect(there.prepared.published).toEqual(here.prepared.published);
  expect(there.contract.match('GET', '/pets')).toMatchObject({ operation: { id: 'listPets' } });
  expect(loader.reading).toEqual([]);
});

test.each(['schemas.yaml', 'not-yaml.txt', 'nowhere.yaml'])(
  '%s has the same mistakes there',
  async (name) => {
    const mistakes = (error: unknown) =>
      error instanceof ContractError ? { problems: error.problems, notes: error.notes } : error;
    const there = await new ContractLoader().load(order(broken(name))).catch(mistakes);
    let here: unknown;
    try {
      checkContract(broken(name));
    } catch (error) {
      here = mistakes(error);
    }
    expect(there).toEqual(here);
  },
);

test('tolerated mistakes are returned', async () => {
  const tolerant = orderOf(broken('schemas.yaml'), NOWHERE, { onUnsupported: 'report' });
  const { contract } = await new ContractLoader().load(tolerant);
  const { file, ...options } = tolerant.contract;
  expect(contract.exempted).toEqual(loadContract(file, options).exempted);
  expect(contract.exempted.length).toBeGreaterThan(0);
});

describe('a process that does not respond', () => {
  test('is ended with the loader', async () => {
    const loader = reader('silent');
    const loading = loader.load(order(shippedFiles.contract));
    const pid = await processOf(loader);
    expect(isAlive(pid!)).toBe(true);
    loader.close();
    await expect(loading).rejects.toThrow(LoadingEnded);
    await until('the process is gone', () => !isAlive(pid!));
    await expect(loader.load(order(shippedFiles.contract))).rejects.toThrow(LoadingEnded);
  });

  test('is ended at the deadline, with an error that names the contract', async () => {
    const loader = reader('silent', 1);
    const loading = loader.load(order('slow.yaml'));
    const message = 'was not read within 0.001 s; make the contract smaller or simpler';
    await expect(loading).rejects.toMatchObject({
      name: 'ContractError',
      problems: [{ file: 'slow.yaml', place: '', message }],
    });
    expect(loader.reading).toEqual([]);
  });

  test('is ended at the limit of its memory, with an error that names the contract', async () => {
    const loader = reader('greedy', undefined, 32);
    const loading = loader.load(order('large.yaml'));
    const message = 'takes more than 32 MiB to read; make the contract smaller or simpler';
    await expect(loading).rejects.toMatchObject({
      name: 'ContractError',
      problems: [{ file: 'large.yaml', place: '', message }],
    });
  });

  test('is reported with its exit', async () => {
    const wrong = 'the process that reads the contract ended with';
    await expect(reader('crashing').load(order('a'))).rejects.toThrow(`${wrong} code 3`);
    const loader = reader('silent');
    const loading = loader.load(order('a'));
    process.kill(await processOf(loader), 'SIGKILL');
    await expect(loading).rejects.toThrow(`${wrong} SIGKILL`);
  });
});

test('a bug of the process is rethrown', async () => {
  await expect(reader('mistaken').load(order('a'))).rejects.toMatchObject({
    name: 'TypeError',
    message: 'a mistake of ours',
  });
});

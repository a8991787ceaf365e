import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { done, head } from '../../../packages/openapi/test/documents.ts';
import type { Contract } from '../../../src/config/contract/contract.ts';
import { ContractLoader } from '../../../src/run/contracts/loader.ts';
import { TestGateway } from '../../support/gateway.ts';
import { temporaryFolders } from '../../support/temporary.ts';
import { until } from '../../support/until.ts';

const PATHS = { '/pets': { get: { operationId: 'listPets', responses: done } } };
const folder = temporaryFolders();

class Noting extends ContractLoader {
  readonly contracts: WeakRef<Contract>[] = [];

  override async loadFirst(order: Parameters<ContractLoader['loadFirst']>[0]) {
    const loaded = await super.loadFirst(order);
    this.contracts.push(new WeakRef(loaded.contract));
    return loaded;
  }

  override async load(order: Parameters<ContractLoader['load']>[0]) {
    const loaded = await super.load(order);
    this.contracts.push(new WeakRef(loaded.contract));
    return loaded;
  }
}

test('each contract is released from memory with the next reload', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const file = join(folder(), 'openapi.json');
  const write = (version: string) => {
    const info = { title: 'Pets', version };
    writeFileSync(file, JSON.stringify({ ...head, info, paths: PATHS }));
  };
  write('1.0.0');
  const contracts = new Noting();
  const gateway = await TestGateway.start({
    settings: `contract: { file: "${file}" }\n`,
    contracts,
  });
  try {
    for (const version of ['2.0.0', '3.0.0']) {
      write(version);
      // The gateway may have noticed the change by itself.
      expect((await gateway.admin.post('/reload')).status).toBe(200);
    }
    const last = contracts.contracts.pop()!;
    await until('the earlier contracts are gone', () => {
      collect();
      return contracts.contracts.every((contract) => contract.deref() === undefined);
    });
    expect(last.deref()).toBeDefined();
  } finally {
    await gateway.stop();
  }
});

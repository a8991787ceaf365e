import { rmSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { isDeep } from '../runner/fast-check.ts';
import { Actions } from '../support/actions.ts';
import { CrashingGateway } from '../support/crashes.ts';
import { LostPower } from '../support/lost-power/lost-power.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const LOSSES = 3;
const KINDS = 8;

let backend: FakeBackend;
let gateway: CrashingGateway;
let power: LostPower;
afterEach(async () => {
  await gateway.kill();
  await backend.close();
  power.close();
  rmSync(gateway.folder, { recursive: true });
});

async function start({ isDeaf }: { readonly isDeaf: boolean }): Promise<void> {
  backend = await fakeBackend((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
  });
  gateway = new CrashingGateway(backend.url);
  power = new LostPower(gateway.folder, isDeaf);
  power.begin();
  gateway.env = power.env;
  await gateway.start();
}

/** One change of each kind or more, until the power is lost in the middle of another. */
async function change(actions: Actions): Promise<void> {
  const before = actions.done.length;
  const operating = actions.run();
  await until('one of each is done', () => actions.done.length >= before + KINDS);
  await gateway.kill();
  await operating;
  power.lose();
  power.begin();
  await gateway.start();
}

const suite = isDeep && LostPower.missing === null ? describe : describe.skip;
suite('after lost power', () => {
  test('all confirmed changes of operators are kept', async () => {
    await start({ isDeaf: false });
    const actions = new Actions(gateway);
    for (let loss = 0; loss < LOSSES; loss++) await change(actions);
    expect(await actions.missing()).toEqual([]);
  }, 240_000);

  // Otherwise the test above would pass without any sync.
  test('changes are lost on a disk that ignores syncs', async () => {
    await start({ isDeaf: true });
    const actions = new Actions(gateway);
    await change(actions);
    expect(await actions.missing()).toHaveLength(actions.done.length);
  }, 240_000);
});

import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DAY } from '../../src/common/time.ts';
import { readUsageIn } from '../../src/state/usage-folder.ts';
import { isDeep } from '../runner/fast-check.ts';
import { Actions } from '../support/actions.ts';
import { storedCounters } from '../support/counters.ts';
import { CrashingGateway, Load } from '../support/crashes.ts';
import { bodyOf } from '../support/failure.ts';
import { readerOf, usageIn } from '../support/ledger.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const KILLS = isDeep ? 5 : 2;
const CALLERS = 4;
const KINDS = 8;
/** The documented limit is a second; the rest is for a busy test machine. */
const LATE = 10_000;

let backend: FakeBackend;
let gateway: CrashingGateway;
beforeAll(async () => {
  backend = await fakeBackend((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
  });
  gateway = new CrashingGateway(backend.url);
  await gateway.start();
});
afterAll(async () => {
  await gateway.kill();
  await backend.close();
  rmSync(gateway.folder, { recursive: true });
});

test('a gateway that is killed under load keeps all changes of operators, and nearly all counts and usage, once', async () => {
  const { id, key } = await gateway.key('1000000/day');
  const counted = () => storedCounters(gateway.data).get(`key:${id}`)?.cells[1] ?? 0;
  const period = { from: Date.now() - DAY, to: Date.now() + DAY };
  const stored = async () => {
    const usage = await usageIn(readerOf(readUsageIn(gateway.data)), period);
    return usage.get(id)?.requests ?? 0;
  };
  const from = new Date(Date.now() - DAY).toISOString().slice(0, 10);
  const reported = async (): Promise<number> => {
    const path = `/usage/report?by=key&key=${id}&from=${from}`;
    return bodyOf(await gateway.admin('GET', path)).rows[0]?.requests ?? 0;
  };
  const actions = new Actions(gateway);
  let before = [0, 0];
  for (let kill = 0; kill < KILLS; kill++) {
    const load = new Load(gateway.url, key, CALLERS);
    const operating = actions.run();
    await until('requests are counted on disk', () => counted() > before[0]!);
    await until(
      'the operator has done one of each',
      () => actions.done.length >= KINDS * (kill + 1),
    );
    const confirmed = load.admitted.length;
    await until('these are stored', async () => (await stored()) >= before[1]! + confirmed);
    await pause(Math.random() * 1_500);
    const onDisk = [counted(), await stored()];
    const killedAt = performance.now();
    await gateway.kill();
    await Promise.all([load.stop(), operating]);
    await gateway.start();

    const now = [await gateway.used(id), await reported()];
    const timely = load.admitted.filter((at) => at < killedAt - LATE).length;
    for (const [i, count] of now.entries()) {
      expect(count).toBeGreaterThanOrEqual(onDisk[i]!);
      expect(count - before[i]!).toBeGreaterThanOrEqual(timely);
      expect(count - before[i]!).toBeLessThanOrEqual(load.sent);
    }
    before = now;
  }
  expect(await actions.missing()).toEqual([]);
}, 240_000);

test('strikes, the resulting ban, and its level outlive a crash', async () => {
  const { id, key } = await gateway.key('1/day');
  const usage = async () => (await gateway.admin('GET', `/usage/${id}`)).body.usage[0];
  const load = new Load(gateway.url, key, 1);
  await until('the ban has begun', async () => (await usage()).banned !== null);
  const held = await usage();
  await load.stop();
  await until('it is on disk', () => {
    const strikeState = storedCounters(gateway.data).get(`key:${id}`)?.strikeState;
    return (strikeState?.bannedUntil ?? 0) > Date.now();
  });
  await gateway.kill();
  await gateway.start();
  expect(await usage()).toEqual(held);
});

import { expect, test } from '@jest/globals';
import { simulate } from '../simulation.ts';
import { SEED } from './support.ts';

const WORKER = 2;

test('an outage that only a worker has seen ends for webhooks with the worker', async () => {
  await simulate({ seed: SEED, gateways: 0 }, async ({ world, gateways, receiver }) => {
    const [gateway] = gateways;
    gateway!.within(({ webhooks }) => {
      webhooks.receive(
        { sight: 'state', name: '', isDown: true, at: Date.now(), about: {} },
        WORKER,
      );
    });
    await world.pass(5_000);
    gateway!.within(({ observe }) => {
      observe({
        type: 'worker.ended',
        worker: WORKER,
        pid: 1,
        reason: 'SIGKILL',
        unexpected: true,
        replacedAfter: 0,
      });
    });
    // The replacement of a worker gets time to report the same outage.
    await world.pass(20_000);
    expect(receiver.delivered.map(({ type }) => type)).toEqual(['state.down', 'state.up']);
  });
});

import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { createWorkerHandle } from '../../../src/run/workers/handle.ts';
import type { Detection } from '../../../src/webhooks/detector.ts';

const SIGHTING: Detection = { sight: 'state', name: '', isDown: true, at: 1, about: {} };
const EVENT: Detection = {
  type: 'key.first_used',
  at: 1,
  data: {},
  identity: 'key_1',
  once: { name: 'key_1', since: 0, until: 2 },
};

test('events of a worker are taken after its exit too, but not what it saw as down', async () => {
  const worker = Object.assign(new EventEmitter(), {
    process: { pid: 7 },
    send: () => true,
  }) as unknown as Worker;
  const detections: Detection[] = [];
  const handlers = { webhook: (detection: Detection) => void detections.push(detection) };
  const handle = createWorkerHandle(
    1,
    worker,
    handlers as Parameters<typeof createWorkerHandle>[2],
  );
  const send = (argument: Detection) =>
    worker.emit('message', { storegate: 'call', id: 1, name: 'webhook', argument });
  send(SIGHTING);
  send(EVENT);
  worker.emit('exit', null, 'SIGKILL');
  await handle.ended;
  send(SIGHTING);
  send(EVENT);
  expect(detections).toEqual([SIGHTING, EVENT, EVENT]);
});

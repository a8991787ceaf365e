import { expect, test } from '@jest/globals';
import { createRecentRequests } from '../../../src/observe/request-log/recent.ts';
import { requestEvent } from '../../support/request-event.ts';

const NOW = Date.UTC(2030, 0, 31);

function recording(bufferSize = 4) {
  let now = NOW;
  const recent = createRecentRequests(
    { bufferSize, sampleRate: 0 },
    { worker: 2, clock: () => now },
  );
  return {
    recent,
    call(keyId: string | null, given: Partial<Parameters<typeof requestEvent>[0]> = {}) {
      now += 1_000;
      recent.observe(requestEvent({ keyId, ...given }));
    },
  };
}

test('a call has its time, operation, status, address and duration, and nothing that a client chose', () => {
  const { recent, call } = recording();
  call('key_1', { method: 'POST', status: 201, duration: 2.34567, address: '192.0.2.7' });
  expect(recent.calls('key_1')).toEqual([
    {
      at: NOW + 998,
      worker: 2,
      method: 'POST',
      operation: 'listPets',
      status: 201,
      address: '192.0.2.7',
      duration: 2.346,
    },
  ]);
});

test('the last 20 successful calls of a key stay, whatever is sampled and other keys send', () => {
  const { recent, call } = recording();
  for (let i = 0; i < 30; i++) call('key_1', { status: 200 + i });
  for (let i = 0; i < 5_000; i++) call('key_2');
  call('key_1', { status: 429, code: 'rate_limit_exceeded' });
  call('key_1', { status: 502 });
  call(null);
  const statuses = recent.calls('key_1').map(({ status }) => status);
  expect(statuses.toSorted()).toEqual(Array.from({ length: 20 }, (_, i) => 210 + i));
  expect(recent.calls('key_2')).toHaveLength(20);
  expect(recent.calls('key_3')).toEqual([]);
});

test('of more than 20 calls of a key in a second the first stay', () => {
  const recent = createRecentRequests(
    { bufferSize: 4, sampleRate: 0 },
    { worker: null, clock: () => NOW },
  );
  for (let i = 0; i < 100; i++) recent.observe(requestEvent({ keyId: 'key_1', status: 200 + i }));
  const statuses = recent.calls('key_1').map(({ status }) => status);
  expect(statuses).toEqual(Array.from({ length: 20 }, (_, i) => 200 + i));
});

test('keys that were used least recently are forgotten first', () => {
  const { recent, call } = recording();
  call('key_first');
  call('key_used');
  for (let i = 0; i < 4_500; i++) {
    call(`key_${i}`);
    call('key_used');
  }
  expect(recent.calls('key_first')).toEqual([]);
  expect(recent.calls('key_0')).toEqual([]);
  expect(recent.calls('key_4499')).toHaveLength(1);
  expect(recent.calls('key_used')).toHaveLength(20);
});

test('explain.bufferSize 0 keeps none, after a reload too', () => {
  const { recent, call } = recording();
  call('key_1');
  recent.use({ bufferSize: 0, sampleRate: 1 });
  call('key_1');
  expect(recent.calls('key_1')).toEqual([]);
});

import { describe, expect, test } from '@jest/globals';
import { ByteBuffer } from '@storegate/http1';
import { createCache } from '../../src/common/cache.ts';
import { createAddressWindow } from '../../src/common/clients/address-window.ts';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { Fixture } from './fixture.ts';

/** CPU time in microseconds. */
function timed(count: number, step: (i: number) => void): number {
  const start = process.threadCpuUsage();
  for (let i = 0; i < count; i++) step(i);
  return process.threadCpuUsage(start).user;
}

describe('a million unknown clients', () => {
  test('leave a cache at its limit, and no insertion waits for the others', () => {
    const cache = createCache<number>(1_000);
    const early = timed(50_000, (i) => cache.set(`early ${i}`, i));
    let most = 0;
    for (let i = 0; i < 100_000; i++) {
      cache.set(`key ${i}`, i);
      most = Math.max(most, cache.size);
    }
    expect(most).toBeLessThanOrEqual(2_000);
    const late = timed(50_000, (i) => cache.set(`late ${i}`, i));
    // Not a deadline: an insertion that walks all entries would be a thousand times slower, not a
    // hundred.
    expect(late).toBeLessThan(100 * early + 100_000);
  });

  test('with distinct addresses share the remaining counters, and are still throttled', async () => {
    const window = createAddressWindow({ name: 'failures', kind: 'fixed', limit: 2, span: 60_000 });
    const address = (i: number) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
    for (let i = 0; i < 105_000; i++) await window.take(address(i));
    expect(window.size).toBeLessThanOrEqual(100_000 + 1_024);
    let exhausted = 0;
    for (let i = 0; i < 100; i++)
      if ((await window.take(address(200_000 + i))).exhausted) exhausted++;
    expect(exhausted).toBe(100);
  });
});

test('a body of tiny chunks is held once, in whatever buffers they came', () => {
  const gathering = new ByteBuffer();
  const expected: number[] = [];
  for (let i = 0; i < 20_000; i++) {
    // As in the parser, each chunk is a view of one byte into a large read.
    const read = i % 100 === 0 ? Buffer.alloc(65_536, i & 255) : null;
    const chunk = read?.subarray(7, 8) ?? Buffer.from([i & 255]);
    expected.push(chunk[0]!);
    gathering.add(chunk);
  }
  expect(gathering.whole).toEqual(Buffer.from(expected));
  expect(gathering.capacity).toBeLessThanOrEqual(40_000);
});

describe('requests of all kinds', () => {
  test('add no series to the metrics: labels come from fixed sets', async () => {
    const fixture = await Fixture.start({
      settings: 'http: {authFailureLimit: {failures: 100000, window: 1m}}',
    });
    const series = async () =>
      (await fixture.gateway.admin.get('/metrics')).text
        .split('\n')
        .filter((line) => line.startsWith('storegate_')).length;
    const wire = await fixture.connect();
    const round = async (i: number) => {
      const methods = ['GET', 'PROPFIND', 'M-SEARCH', 'DELETE'];
      for (const line of [
        `${methods[i % 4]} /no/such/${i}`,
        `GET /pets/${i}`,
        `GET /pets?x${i}=1`,
      ]) {
        await wire.send(fixture.request(line)).answer();
      }
      const unknown = `GET /pets/${i} HTTP/1.1\r\nHost: h${i}\r\nX-API-Key: ${makeSecret('test')}\r\n\r\n`;
      await wire.send(unknown).answer();
    };
    for (let i = 0; i < 8; i++) await round(i);
    const before = await series();
    for (let i = 8; i < 60; i++) await round(i);
    expect(await series()).toBe(before);
    wire.close();
    await fixture.stop();
  });
});

import { once } from 'node:events';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import express from 'express';
import { sendStream } from '../../src/admin/streaming.ts';
import { Outage } from '../../src/common/errors/outage.ts';

/** What `sendStream` throws when the client leaves as soon as it is served, or stays. */
async function thrownBy(leaves: boolean, failure: Error | null): Promise<unknown> {
  const app = express();
  const ended = Promise.withResolvers<unknown>();
  app.get('/', async (request, response) => {
    if (leaves) {
      client.destroy();
      await once(response, 'close');
    }
    const text = (async function* () {
      yield 'a';
      if (failure) throw failure;
    })();
    await sendStream(request, response, { type: 'text/csv', text }).then(
      () => ended.resolve(null),
      ended.resolve,
    );
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = get({ port: (server.address() as AddressInfo).port });
  client
    .on('error', () => {})
    .on('response', (response) => response.on('error', () => {}).resume());
  const thrown = await ended.promise;
  server.close();
  server.closeAllConnections();
  return thrown;
}

const bug = new TypeError('broken');

test.each<[string, boolean, Error | null, unknown]>([
  ['a text that ends', false, null, null],
  ['a client that leaves before the first byte', true, null, null],
  ['an outage in the middle', false, new Outage('state_unavailable'), null],
  ['a bug in the middle', false, bug, bug],
])('%s', async (_, leaves, failure, thrown) => {
  expect(await thrownBy(leaves, failure)).toBe(thrown);
});

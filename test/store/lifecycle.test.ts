import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { seedStore } from '../../src/store/seed.ts';
import { createStore } from '../../src/store/store.ts';
import { closeStores, startStore, startStoreWithPet } from './start-store.ts';

afterEach(closeStores);

const local = { host: '127.0.0.1', port: 0 };

describe('a store', () => {
  test('reports that it is healthy', async () => {
    const { send } = await startStore();
    expect(await send('GET', '/health')).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  });

  test('cannot listen at a port in use, and may try another', async () => {
    const { url } = await startStore();
    const port = Number(new URL(url).port);
    const store = createStore(':memory:');
    await expect(store.listen({ ...local, port })).rejects.toThrow(/EADDRINUSE/);
    await expect(store.listen(local)).resolves.toMatchObject({ url: expect.any(String) });
    await store.close();
  });
});

describe('closing', () => {
  async function startRequest(url: string) {
    const headers = { 'Content-Type': 'application/json', Expect: '100-continue' };
    const sent = request(`${url}/categories`, { method: 'POST', headers });
    sent.flushHeaders();
    await once(sent, 'continue');
    return sent;
  }

  test('lets a request in flight finish before the database closes', async () => {
    const { store, url } = await startStore();
    const sent = await startRequest(url);
    const closed = store.close();
    sent.end('{"name":"Cats"}');
    const [response] = await once(sent, 'response');
    expect([response.statusCode, await json(response)]).toEqual([201, { id: 1, name: 'Cats' }]);
    expect(response.headers.connection).toBe('close');
    await closed;
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });

  test('does not wait for a client that left in the middle of its request', async () => {
    const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const { store, url } = await startStore();
    const sent = await startRequest(url);
    sent.on('error', () => {}).destroy();
    await store.close();
    expect(emitWarning).not.toHaveBeenCalled();
    emitWarning.mockRestore();
  });
});

describe('seeding', () => {
  test('fills an empty store, in which something can be ordered at once', async () => {
    const { store, send } = await startStore();
    seedStore(store);
    expect((await send('GET', '/pets?status=available')).json.length).toBeGreaterThan(2);
    expect((await send('POST', '/store/orders', { petId: 1 })).status).toBe(201);
  });

  test('leaves a store with data unchanged', async () => {
    const { store, send } = await startStoreWithPet();
    seedStore(store);
    expect((await send('GET', '/pets')).json).toHaveLength(1);
  });
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { send } from '../../src/webhooks/send.ts';
import { freePort } from '../support/free-port.ts';
import { Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const EVENT = {
  id: 'msg_1',
  body: JSON.stringify({
    type: 'test',
    timestamp: new Date().toISOString(),
    data: { by: 'anna', gateway: 'gw-1' },
  }),
};

let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  expect(receiver.faults).toEqual([]);
});

const settings = (timeout: number) => ({ secret: receiver.secret, previousSecret: null, timeout });

const sent = (more: Partial<Parameters<typeof send>[0]> = {}) =>
  send({
    url: receiver.url,
    message: EVENT,
    settings: settings(20_000),
    now: Date.now(),
    signal: new AbortController().signal,
    ...more,
  });

describe('an attempt', () => {
  test.each([200, 201, 202, 204, 299])('that is answered %d is delivered', async (status) => {
    receiver.answer = () => ({ status });
    expect(await sent()).toEqual({ delivered: true, status });
    expect(receiver.taken[0]).toMatchObject({
      id: 'msg_1',
      body: EVENT.body,
      path: '/hooks/s3cr3t-path',
    });
  });

  test.each([
    [301, 'HTTP 301: redirects are not followed', false],
    [308, 'HTTP 308: redirects are not followed', false],
    [400, 'HTTP 400', false],
    [410, 'HTTP 410: the endpoint wants no more events', true],
    [429, 'HTTP 429', false],
    [500, 'HTTP 500', false],
  ])('that is answered %d is not: %s', async (status, error, isGone) => {
    receiver.answer = () => ({ status, headers: { 'Retry-After': '7', Location: receiver.url } });
    expect(await sent()).toEqual({ delivered: false, status, error, isGone, retryAfter: 7_000 });
    expect(receiver.attempts).toHaveLength(1);
  });

  test('that is cut or refused reports the reason without the address', async () => {
    receiver.answer = () => ({ status: 500, cut: true });
    expect(await sent()).toMatchObject({
      delivered: false,
      status: null,
      error: 'no response: the connection was closed',
    });
    const url = `http://127.0.0.1:${await freePort()}/s3cr3t-path`;
    expect(await sent({ url })).toMatchObject({
      delivered: false,
      error: 'no response: the connection is refused',
    });
  });

  test('reads only the head of a response, however long it is', async () => {
    let closed = false;
    const server = createServer((request, response) => {
      request.resume();
      response.on('close', () => {
        closed = true;
      });
      response.writeHead(200);
      const more = () => {
        while (!closed && response.write(Buffer.alloc(65_536)));
        if (!closed) response.once('drain', more);
      };
      more();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await sent({ url })).toEqual({ delivered: true, status: 200 });
    await until('the connection is closed', () => closed);
    server.close();
    await once(server, 'close');
  });

  test('is cancelled after its timeout, and by a close of the gateway', async () => {
    const arrived: string[] = [];
    receiver.answer = ({ id }) => {
      arrived.push(id);
      return new Promise(() => {});
    };
    expect(await sent({ settings: settings(20) })).toMatchObject({
      delivered: false,
      error: 'no response within 0.02 s',
    });
    const cut = new AbortController();
    const under = sent({ message: { ...EVENT, id: 'msg_2' }, signal: cut.signal });
    await until('it is there', () => arrived.includes('msg_2'));
    cut.abort();
    expect(await under).toMatchObject({ delivered: false, status: null, error: 'no response' });
  });
});

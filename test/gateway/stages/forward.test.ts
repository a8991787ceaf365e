import { describe, expect, test } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { Outage } from '../../../src/errors/outage.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import type { Checked } from '../../../src/gateway/results.ts';
import { createForward } from '../../../src/gateway/stages/forward.ts';
import type { Upstream } from '../../../src/gateway/upstream/connections.ts';
import { BodyStream } from '../../../src/gateway/upstream/store-answer.ts';
import { CallerLeft } from '../../../src/gateway/wire/caller-left.ts';
import type { Event } from '../../../src/observe/events.ts';
import { admittedClient, exchangeOf, targetOf } from '../../support/exchange.ts';

/** The store's treatment of one request, through the handler that undici would call. */
type Store = (handler: Required<Dispatcher.DispatchHandler>, controller: Dispatcher.DispatchController) => void;

/** The stage with a store that treats its first, second, … request like this. */
function forwarding(...stores: Store[]) {
  const sent: Dispatcher.DispatchOptions[] = [];
  const flow: string[] = [];
  const events: Event[] = [];
  let givenBack = 0;
  const deaths = new WeakSet<Error>();
  const upstream = {
    basePath: '/base',
    lease: () => ({
      client: {
        dispatch(options: Dispatcher.DispatchOptions, handler: Required<Dispatcher.DispatchHandler>) {
          sent.push(options);
          const controller = {
            pause: () => void flow.push('pause'),
            resume: () => void flow.push('resume'),
            abort: (error: Error) => handler.onResponseError(controller, error),
          } as unknown as Dispatcher.DispatchController;
          handler.onRequestStart(controller, {});
          stores[sent.length - 1]!(handler, controller);
        },
      },
      giveBack: () => void givenBack++,
    }),
    diedReused: (error: Error) => deaths.has(error),
    close: async () => {},
  } as unknown as Upstream;
  const forward = createForward({ upstream, observe: (event) => events.push(event), plainAnswers: false });

  function ask(exchange: Exchange = exchangeOf(), body: Buffer | null = null, url = '/pets?limit=1') {
    return forward(exchange, { client: admittedClient(), target: targetOf(url), operation: {}, body } as Checked);
  }
  const died = (): Error => {
    const error = new Error('other side closed');
    deaths.add(error);
    return error;
  };
  return { ask, sent, flow, events, died, givenBack: () => givenBack };
}

const answers =
  (status: number, headers: Record<string, string | string[]>, ...chunks: string[]): Store =>
  (handler, controller) => {
    handler.onResponseStart(controller, status, headers, 'OK');
    for (const chunk of chunks) handler.onResponseData(controller, Buffer.from(chunk));
    handler.onResponseEnd(controller, {});
  };

const fails =
  (error: Error): Store =>
  (handler, controller) =>
    handler.onResponseError(controller, error);

const withCode = (code: string) => Object.assign(new Error(code), { code });

async function gathered(body: BodyStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    body.to({
      chunk(bytes) {
        text += bytes.toString();
        return true;
      },
      end: () => resolve(text),
      fail: reject,
    });
  });
}

describe('the store is asked', () => {
  test('with the canonical target, the checked bytes, and who asks', async () => {
    const { ask, sent } = forwarding(answers(200, { 'content-length': '0' }));
    await ask(exchangeOf('POST', { 'X-API-Key': 'secret', 'X-Own': '1' }), Buffer.from('{}'));
    expect(sent).toEqual([
      { method: 'POST', path: '/base/pets?limit=1', body: Buffer.from('{}'), headers: expect.any(Array) },
    ]);
    const headers = sent[0]!.headers as string[];
    expect(headers).toEqual(expect.arrayContaining(['X-Own', '1', 'X-Storegate-Key', 'key_1', 'X-Storegate-Plan']));
    expect(headers.map((text) => text.toLowerCase())).not.toContain('x-api-key');
  });
});

describe('its answer is a value', () => {
  test('with the whole body where that came with the head', async () => {
    const { ask, givenBack } = forwarding(
      answers(200, { 'content-length': '4', 'x-own': ['1', '2'], connection: 'keep-alive' }, 'body'),
    );
    const exchange = exchangeOf();
    expect(await ask(exchange)).toEqual({
      status: 200,
      reason: 'OK',
      headers: [
        ...['content-length', '4', 'x-own', '1', 'x-own', '2'],
        ...['cache-control', 'private', 'vary', 'X-API-Key, Authorization'],
      ],
      body: Buffer.from('body'),
    });
    expect(exchange.answeredAt).toBeGreaterThan(0);
    expect(exchange.cancel).toBeNull();
    expect(givenBack()).toBe(1);
  });

  test.each<[string, string, number, Record<string, string>]>([
    ['HEAD', 'HEAD', 200, { 'content-length': '4' }],
    ['204', 'GET', 204, {}],
    ['304', 'GET', 304, { 'content-length': '4' }],
    ['Content-Length: 0', 'GET', 200, { 'content-length': '0' }],
  ])('with an empty body: %s', async (_what, method, status, headers) => {
    const { ask } = forwarding(answers(status, headers));
    expect((await ask(exchangeOf(method))).body).toEqual(Buffer.alloc(0));
  });

  test.each([
    ['of unknown length', { 'transfer-encoding': 'chunked' }],
    ['that comes in pieces', { 'content-length': '6' }],
  ])('with a stream for a body %s', async (_what, headers) => {
    const { ask } = forwarding(answers(200, headers, 'one', 'two'));
    const { body } = await ask();
    expect(body).toBeInstanceOf(BodyStream);
    expect(await gathered(body as BodyStream)).toBe('onetwo');
  });

  test('whose connection waits while nobody takes the body', async () => {
    let more = (): void => {};
    const { ask, flow } = forwarding((handler, controller) => {
      handler.onResponseStart(controller, 200, { 'content-length': '9' }, 'OK');
      handler.onResponseData(controller, Buffer.from('one'));
      more = () => {
        handler.onResponseData(controller, Buffer.from('two'));
        handler.onResponseData(controller, Buffer.from('six'));
        handler.onResponseEnd(controller, {});
      };
    });
    const { body } = await ask();
    expect(flow).toEqual(['pause']);
    const text = gathered(body as BodyStream);
    expect(flow).toEqual(['pause', 'resume']);
    more();
    expect(await text).toBe('onetwosix');
    expect(flow).toEqual(['pause', 'resume']);
  });

  test('that breaks off fails whoever takes its body', async () => {
    const { ask } = forwarding((handler, controller) => {
      handler.onResponseStart(controller, 200, { 'content-length': '9' }, 'OK');
      handler.onResponseData(controller, Buffer.from('one'));
      handler.onResponseError(controller, withCode('ECONNRESET'));
    });
    const { body } = await ask();
    await expect(gathered(body as BodyStream)).rejects.toMatchObject({ name: 'Outage', code: 'upstream_error' });
  });
});

describe('no answer is an outage', () => {
  test.each([
    ['ECONNREFUSED', 'upstream_unavailable'],
    ['UND_ERR_CONNECT_TIMEOUT', 'upstream_unavailable'],
    ['UND_ERR_HEADERS_TIMEOUT', 'upstream_timeout'],
    ['ECONNRESET', 'upstream_error'],
  ])('%s is %s', async (code, outage) => {
    const { ask, givenBack } = forwarding(fails(withCode(code)));
    await expect(ask()).rejects.toMatchObject({ name: 'Outage', code: outage });
    expect(givenBack()).toBe(1);
  });

  test('but an outage of the connections is told as it is', async () => {
    const { ask } = forwarding(() => {
      throw new Outage('upstream_busy');
    });
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_busy' });
  });

  test('and a caller that leaves ends the question', async () => {
    const { ask } = forwarding(() => {});
    const exchange = exchangeOf();
    const answer = ask(exchange);
    exchange.cancel!();
    await expect(answer).rejects.toBeInstanceOf(CallerLeft);
  });
});

describe('a connection that died idle', () => {
  test('is replaced once, and told', async () => {
    const made = forwarding((...given) => fails(made.died())(...given), answers(200, { 'content-length': '2' }, 'ok'));
    expect((await made.ask()).body).toEqual(Buffer.from('ok'));
    expect(made.events).toEqual([{ type: 'retry', id: 'request-1', error: expect.any(Error) }]);
    expect(made.givenBack()).toBe(2);
  });

  test('is not replaced a second time', async () => {
    const again: Store = (...given) => fails(made.died())(...given);
    const made = forwarding(again, again);
    await expect(made.ask()).rejects.toMatchObject({ code: 'upstream_error' });
    expect(made.sent).toHaveLength(2);
  });

  test('is not replaced for a method that may not be repeated', async () => {
    const made = forwarding((...given) => fails(made.died())(...given));
    await expect(made.ask(exchangeOf('POST'))).rejects.toMatchObject({ code: 'upstream_error' });
    expect(made.sent).toHaveLength(1);
  });
});

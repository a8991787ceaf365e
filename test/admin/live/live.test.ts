import { afterEach, expect, test } from '@jest/globals';
import type { Listener } from '../../../src/admin/call.ts';
import type { AdminContext } from '../../../src/admin/context.ts';
import { Live, type LiveQuery } from '../../../src/admin/live/live.ts';
import { type LiveAnswer, type LiveRequest, newRefusals } from '../../../src/observe/peers/live.ts';
import type { Peers } from '../../../src/observe/peers/peers.ts';
import { fits, type ListedRequest } from '../../../src/observe/peers/requests.ts';
import { rowText } from '../../../src/observe/traffic/packing.ts';
import { COLUMNS } from '../../../src/observe/traffic/row.ts';
import { until } from '../../support/until.ts';

const ALL = { key: null, account: null, code: null };
const BOTH: LiveQuery = { now: true, refused: ALL };

function refusal(id: string, account: string, code: string | null = 'key_banned'): ListedRequest {
  const key = { id: `key_${account}`, account, plan: 'free', subject: null };
  const words = {
    worker: null,
    method: 'GET',
    operation: 'listPets',
    step: 'admit',
    message: 'No.',
  } as const;
  return {
    id,
    at: 1,
    status: 403,
    complete: true,
    code,
    key,
    address: '127.0.0.1',
    repeated: 0,
    ...words,
  };
}

class Asked {
  readonly questions: LiveRequest[] = [];
  refusals: ListedRequest[] = [];
  error: Error | null = null;
  #upTo = 0;

  readonly peers = {
    ask: async (_question: 'live', question: LiveRequest) => {
      this.questions.push(question);
      if (this.error) throw this.error;
      const fresh = this.refusals.splice(0);
      this.#upTo += fresh.length;
      const answer: LiveAnswer = {
        readiness: 'ready',
        state: 'embedded',
        workers: 0,
        processes: [
          {
            id: 'p',
            age: 1,
            counted: rowText(new Float64Array(COLUMNS)),
            upTo: this.#upTo,
            status: {
              worker: null,
              pid: 1,
              inFlight: 2,
              memory: 1,
              localSince: null,
              stateTime: null,
              backends: [],
              backend: { open: 1, idle: 0, waiting: 0, most: 8 },
              conditions: [],
              traffic: { requests: 0, failed: 0, refused: 0 },
            },
          },
        ],
        refusals: newRefusals(
          question.followed.map((one) => fresh.filter((request) => fits(request, one))),
        ),
      };
      return {
        answers: [
          { gateway: 'one', answer },
          { gateway: 'odd', answer: {} },
        ],
        unresponsive: ['gone'],
        isolated: null,
      };
    },
  } as unknown as Peers;
}

class Heard implements Listener {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was said.
  readonly events: [name: string, data: any][] = [];
  ended: unknown[] = [];
  reads = true;

  send(name: string, data: unknown): boolean {
    if (this.reads) this.events.push([name, JSON.parse(JSON.stringify(data))]);
    return this.reads;
  }
  end(error?: unknown): void {
    this.ended.push(error);
  }
  of(name: string) {
    return this.events.filter(([event]) => event === name).map(([, data]) => data);
  }
}

let live: Live;
afterEach(() => live.close());

function start(asked: Asked, tick = 5): Live {
  live = new Live({ peers: () => asked.peers } as unknown as AdminContext, tick);
  return live;
}

test('polls once for all listeners, and not without listeners', async () => {
  const asked = new Asked();
  start(asked, 60_000);
  const [one, two] = [new Heard(), new Heard()];
  live.follow(BOTH, one);
  live.follow({ now: false, refused: ALL }, two);
  await until('the first has heard', () => one.events.length > 0);
  expect(asked.questions).toEqual([{ followed: [ALL], after: {} }]);
  expect(one.of('now')).toMatchObject([
    {
      span: 0,
      requests: 0,
      inFlight: 2,
      latency: { p50: null },
      gateways: [
        { gateway: 'one', readiness: 'ready', processes: 1, backend: { open: 1, limit: 8 } },
      ],
      unresponsive: ['gone', 'odd'],
    },
  ]);
  const late = new Heard();
  live.follow(BOTH, late);
  await until('who comes later has heard of the last tick', () => late.events.length > 0);
  expect([asked.questions.length, two.events]).toEqual([1, []]);
});

test('stops polling with the last listener, and starts again with the next', async () => {
  const asked = new Asked();
  start(asked);
  const stop = live.follow(BOTH, new Heard());
  await until('it asks again', () => asked.questions.length > 2);
  expect(asked.questions.at(-1)!.after).toEqual({ p: 0 });
  stop();
  await until('it has stopped', async () => {
    const { length } = asked.questions;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return asked.questions.length === length;
  });
  const { length } = asked.questions;
  live.follow(BOTH, new Heard());
  expect(asked.questions[length]).toEqual({ followed: [ALL], after: {} });
});

test('sends each listener the refusals of its filter, with the number of omitted ones', async () => {
  const asked = new Asked();
  start(asked);
  const [all, acme, none] = [new Heard(), new Heard(), new Heard()];
  live.follow(BOTH, all);
  live.follow({ now: false, refused: { ...ALL, account: 'acme' } }, acme);
  live.follow({ now: false, refused: { ...ALL, code: '500' } }, none);
  await until('it asks', () => asked.questions.length > 1);
  const many = Array.from({ length: 70 }, (_, i) => refusal(`many-${i}`, 'umbrella'));
  asked.refusals = [...many, refusal('one', 'acme')];
  await until('all have heard', () => all.of('refused').length + acme.of('refused').length === 2);
  expect(acme.of('refused')).toMatchObject([
    { requests: [{ id: 'one', gateway: 'one' }], omitted: 0, unresponsive: ['gone', 'odd'] },
  ]);
  const [{ requests, omitted: left }] = all.of('refused');
  expect(requests.length + left).toBe(71);
  expect(left).toBeGreaterThan(0);
  expect(none.events).toEqual([]);
});

test('skips a listener that does not read, reports later how many it missed, and drops it in the end', async () => {
  const asked = new Asked();
  start(asked);
  const [slow, stuck] = [new Heard(), new Heard()];
  live.follow(BOTH, slow);
  await until('it asks', () => asked.questions.length > 1);
  slow.reads = false;
  asked.refusals = [refusal('a', 'acme'), refusal('b', 'acme')];
  await until('they have no listener', () => asked.refusals.length === 0);
  const before = asked.questions.length;
  await until('a tick has passed', () => asked.questions.length > before);
  slow.reads = true;
  await until('it reads on', () => slow.of('refused').length === 1);
  expect(slow.of('refused')).toMatchObject([{ requests: [], omitted: 2 }]);

  stuck.reads = false;
  live.follow(BOTH, stuck);
  await until('it is left', () => stuck.ended.length === 1);
  expect(slow.ended).toEqual([]);
});

test('accepts fifty listeners, refuses more, ends all on close, and reports its own error to all', async () => {
  const asked = new Asked();
  start(asked);
  const heard = Array.from({ length: 50 }, () => new Heard());
  for (const one of heard) live.follow(BOTH, one);
  expect(() => live.follow(BOTH, new Heard())).toThrow('50 listen already');
  asked.error = new Error('broken');
  await until('all have ended', () => heard.every(({ ended }) => ended[0] === asked.error));
  asked.error = null;
  const last = new Heard();
  live.follow(BOTH, last);
  live.close();
  expect(last.ended).toEqual([undefined]);
  expect(() => live.follow(BOTH, new Heard())).toThrow('The gateway stops');
});

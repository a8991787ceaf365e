import { describe, expect, test } from '@jest/globals';
import { ListenError } from '../../../src/common/listen.ts';
import {
  type Channel,
  createChannel,
  type Handlers,
  NoResponse,
  WorkersError,
} from '../../../src/run/workers/channel.ts';

type Calls = {
  echo: (value: unknown) => unknown;
  fail: (kind: 'expected' | 'bug') => void;
  never: (nothing: null) => void;
};

const HANDLERS: Handlers<Calls> = {
  echo: (value) => value,
  fail(kind) {
    if (kind === 'bug') throw new TypeError('x is undefined');
    throw new ListenError('127.0.0.1', 80, Object.assign(new Error('bind'), { code: 'EACCES' }));
  },
  never: () => new Promise(() => {}),
};

/** Copies frames as between processes. */
function pair() {
  const ends: Channel<Calls, Calls>[] = [];
  const make = (peer: string, other: number) =>
    createChannel<Calls, Calls>({
      peer,
      handlers: HANDLERS,
      send(frame, sent) {
        const copy: unknown = structuredClone(frame);
        queueMicrotask(() => ends[other]!.receive(copy));
        sent(null);
      },
    });
  ends.push(make('worker 2', 1), make('the primary process', 0));
  return { one: ends[0]!, other: ends[1]! };
}

describe('a call', () => {
  test('sends its argument and returns the response, in both directions and concurrently', async () => {
    const { one, other } = pair();
    const values = [
      1n,
      new Map([['a', [1, 2]]]),
      null,
      undefined,
      { deep: { er: Number.POSITIVE_INFINITY } },
    ];
    expect(await Promise.all(values.map((value) => one.call('echo', value, 1_000)))).toEqual(
      values,
    );
    expect(await other.call('echo', 'back', 1_000)).toBe('back');
  });

  test('rethrows errors of the other side, and reports whether they were expected', async () => {
    const { one } = pair();
    const thrown = await one.call('fail', 'expected', 1_000).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(WorkersError);
    expect(thrown).toMatchObject({
      message: 'cannot listen on 127.0.0.1:80: this user may not use it',
    });
    const bug = (await one.call('fail', 'bug', 1_000).catch((error: unknown) => error)) as Error;
    expect(bug).not.toBeInstanceOf(WorkersError);
    expect(bug.message).toBe('x is undefined');
    expect(bug.stack).toContain('channel.test.ts');
  });

  test('ends without a response after its timeout', async () => {
    const { one } = pair();
    const call = one.call('never', null, 20);
    await expect(call).rejects.toThrow(new NoResponse('worker 2 did not respond within 20 ms'));
  });

  test('ends without a response when the other side closes, and so does every later one', async () => {
    const { one } = pair();
    const waiting = one.call('never', null, 60_000);
    one.close('signal SIGKILL');
    await expect(waiting).rejects.toThrow(new NoResponse('worker 2 is gone: signal SIGKILL'));
    await expect(one.call('echo', 1, 60_000)).rejects.toThrow('worker 2 is gone: signal SIGKILL');
  });

  test('ends at once if it or its argument cannot be sent', async () => {
    const broken = createChannel<Calls, Calls>({
      peer: 'worker 1',
      handlers: HANDLERS,
      send: (_, sent) => sent(new Error('channel closed')),
    });
    await expect(broken.call('echo', 1, 60_000)).rejects.toThrow('worker 1 cannot be reached');
    await expect(pair().one.call('echo', () => {}, 60_000)).rejects.toThrow(/could not be cloned/);
  });

  test('ignores other messages, late responses and unexpected responses', async () => {
    const { one } = pair();
    for (const message of [
      null,
      'text',
      { cmd: 'NODE_x' },
      { storegate: 'result', id: 999, value: 1 },
    ])
      one.receive(message);
    expect(await one.call('echo', 'still here', 1_000)).toBe('still here');
  });
});

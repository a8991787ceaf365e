import { afterEach, expect, jest, test } from '@jest/globals';
import { call } from '../src/browser/api/client.ts';

afterEach(() => void jest.restoreAllMocks());

test('a call that is made again because its answer was lost is the same one', async () => {
  const keys: (string | null)[] = [];
  const lose = (account: string, isLost: boolean) => {
    jest.spyOn(globalThis, 'fetch').mockImplementationOnce(async (_url, init) => {
      keys.push(new Headers(init?.headers).get('Idempotency-Key'));
      if (isLost) throw new TypeError('Failed to fetch');
      return Response.json({});
    });
    return call('createKey', { body: { account, plan: 'free' } });
  };
  await expect(lose('acme', true)).rejects.toMatchObject({
    code: 'no_response',
    status: 0,
  });
  await lose('beta', false);
  await lose('acme', false);
  await lose('acme', false);
  const [first, other, again, later] = keys;
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(again).toBe(first);
  expect(new Set([first, other, later]).size).toBe(3);
});

test.each<[string, () => Promise<unknown>]>([
  ['PATCH', () => call('updateKey', { params: { id: 'k' }, body: { plan: 'pro' } })],
  ['PUT', () => call('setPlan', { params: { plan: 'free' }, body: { weight: 2 } })],
  ['DELETE', () => call('liftBan', { params: { subject: 'acme' } })],
  ['POST', () => call('reload')],
])(
  'a change by %s has a key, and its lost answer is said to be unknown',
  async (method, change) => {
    const keys: (string | null)[] = [];
    const lose = (_url: unknown, init?: RequestInit) => {
      expect(init?.method).toBe(method);
      keys.push(new Headers(init?.headers).get('Idempotency-Key'));
      return Promise.reject(new TypeError('Failed to fetch'));
    };
    jest.spyOn(globalThis, 'fetch').mockImplementation(lose as typeof fetch);
    for (let i = 0; i < 2; i++)
      await expect(change()).rejects.toMatchObject({
        message: expect.stringContaining('the change may have been made'),
      });
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
  },
);

test('a read has no key, also if it is a POST', async () => {
  const fetched = jest
    .spyOn(globalThis, 'fetch')
    .mockImplementation(() => Promise.reject(new TypeError('Failed to fetch')));
  await expect(call('identifyKey', { body: { key: 'x' } })).rejects.toMatchObject({
    message: 'The gateway does not respond. It may be stopped, or unreachable.',
  });
  expect(new Headers(fetched.mock.calls[0]![1]?.headers).get('Idempotency-Key')).toBeNull();
});

test('an answer that breaks off is an error', async () => {
  jest.spyOn(globalThis, 'fetch').mockResolvedValueOnce(new Response('{"keys":[', { status: 200 }));
  await expect(call('listKeys')).rejects.toMatchObject({ code: 'no_response' });
});

test('a gateway that hangs is reported like one that is down, but an abandoned question is not', async () => {
  const hangs = (_url: unknown, init?: RequestInit) =>
    new Promise<Response>((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  jest.spyOn(globalThis, 'fetch').mockImplementation(hangs as typeof fetch);
  const late = new AbortController();
  jest.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
  const question = call('listKeys');
  late.abort(new DOMException('It took too long.', 'TimeoutError'));
  await expect(question).rejects.toMatchObject({ code: 'no_response', status: 0 });

  jest.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
  const remaining = new AbortController();
  const dropped = call('listKeys', { signal: remaining.signal });
  remaining.abort();
  await expect(dropped).rejects.toMatchObject({ name: 'AbortError' });
});

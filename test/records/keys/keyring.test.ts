import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Outage } from '../../../src/common/errors/outage.ts';
import type { Plan, Plans } from '../../../src/limits/plans.ts';
import type { KeyRecord } from '../../../src/records/keys/key.ts';
import { createKeyring } from '../../../src/records/keys/keyring.ts';
import type { KeyStore } from '../../../src/records/keys/store.ts';
import { DAY, ESCALATION, MINUTE, TestClock, window } from '../../support/limits.ts';
import { keyRecord } from '../../support/records.ts';

const PLANS: Plans = {
  plans: new Map([['free', { name: 'free', count: 'key', windows: [window(60, MINUTE)] }]]),
  escalation: ESCALATION,
  accounts: new Map(),
};
const RECORD = keyRecord({ id: 'key_1', hash: 'h1' });

/** Answers look-ups when a test says so. */
class RemoteStore implements Pick<KeyStore, 'find' | 'hasImported' | 'watch'> {
  readonly lookups: {
    readonly hash: string;
    answer(record: KeyRecord | null): void;
    fail(error: unknown): void;
  }[] = [];
  changed: () => void = () => {};

  find(hash: string): Promise<KeyRecord | null> {
    return new Promise((resolve, reject) =>
      this.lookups.push({ hash, answer: resolve, fail: reject }),
    );
  }

  hasImported = async (): Promise<boolean> => false;

  watch(changed: () => void): () => void {
    this.changed = changed;
    return () => {
      this.changed = () => {};
    };
  }
}

const keyringOf = (store: object, clock?: () => number) =>
  createKeyring(store as KeyStore, PLANS, clock);

function open() {
  const store = new RemoteStore();
  const clock = new TestClock();
  const keyring = keyringOf(store, clock.read);
  return { store, clock, keyring };
}

/** With the key `h1`, which a look-up has found. */
async function openWith(record = RECORD) {
  const opened = open();
  const requested = opened.keyring.find('h1');
  opened.store.lookups[0]!.answer(record);
  return { ...opened, first: await requested };
}

test('concurrent requests of one key share a look-up', async () => {
  const { store, keyring } = open();
  const requested = [keyring.find('h1'), keyring.find('h1'), keyring.find('h1')];
  expect(store.lookups).toHaveLength(1);
  store.lookups[0]!.answer(RECORD);
  for (const client of await Promise.all(requested))
    expect(client).toMatchObject({ keyId: 'key_1', withdrawn: null });
  expect(keyring.find('h1')).toMatchObject({ keyId: 'key_1' });
});

test('a client is limited as its plan and account define, also after a reload', () => {
  const keyring = keyringOf({ ...open().store, find: () => RECORD, watch: () => () => {} });
  expect(keyring.find('h1')).toMatchObject({
    concurrency: null,
    owner: { group: 'free', weight: 1, member: 'acme' },
  });
  const free: Plan = {
    name: 'free',
    count: 'account',
    windows: [window(60, MINUTE)],
    concurrency: 20,
    weight: 4,
  };
  const plans = { ...PLANS, plans: new Map([['free', free]]) };
  keyring.usePlans(plans);
  expect(keyring.find('h1')).toMatchObject({
    concurrency: 20,
    owner: { group: 'free', weight: 4, member: 'acme' },
  });
  keyring.usePlans({ ...plans, concurrencies: new Map([['acme', 200]]) });
  expect(keyring.find('h1')).toMatchObject({ concurrency: 200 });
  keyring.close();
});

test('a key costs one look-up until any key changes, also an unknown one', async () => {
  const { store, clock, keyring } = await openWith();
  const requested = keyring.find('x');
  store.lookups[1]!.answer(null);
  expect(await requested).toBeNull();
  for (let i = 0; i < 100; i++) {
    clock.pass(DAY);
    expect(keyring.find('h1')).toMatchObject({ keyId: 'key_1' });
    expect(keyring.find('x')).toBeNull();
  }
  store.changed();
  expect(keyring.cached('h1')).toBeNull();
  const again = ['h1', 'x'].map((hash) => keyring.find(hash));
  store.lookups[2]!.answer({ ...RECORD, revokedAt: 1 });
  store.lookups[3]!.answer({ ...RECORD, hash: 'x' });
  expect(await Promise.all(again)).toEqual([
    expect.objectContaining({ withdrawn: 'revoked' }),
    expect.objectContaining({ withdrawn: null }),
  ]);
});

test('a response older than a change is not cached', async () => {
  const { store, keyring } = open();
  const stale = keyring.find('h1');
  store.changed();
  store.lookups[0]!.answer(RECORD);
  await stale;
  const fresh = keyring.find('h1');
  expect(store.lookups).toHaveLength(2);
  store.lookups[1]!.answer({ ...RECORD, revokedAt: 1 });
  expect(await fresh).toMatchObject({ withdrawn: 'revoked' });
});

test('a request after a change does not share an earlier look-up', async () => {
  const { store, keyring } = open();
  const before = keyring.find('h1');
  store.changed();
  const after = keyring.find('h1');
  store.lookups[1]!.answer({ ...RECORD, revokedAt: 1 });
  store.lookups[0]!.answer(RECORD);
  await before;
  expect(await after).toMatchObject({ withdrawn: 'revoked' });
  expect(keyring.find('h1')).toMatchObject({ withdrawn: 'revoked' });
});

test('cached keys and pending look-ups get the limits of new plans without another look-up', async () => {
  const { store, keyring } = open();
  const requested = keyring.find('h1');
  const late = keyring.find('h2');
  store.lookups[0]!.answer(RECORD);
  await requested;
  const windows = [window(5, MINUTE)];
  keyring.usePlans({
    ...PLANS,
    plans: new Map([['free', { name: 'free', count: 'key', windows }]]),
  });
  store.lookups[1]!.answer({ ...RECORD, id: 'key_2', hash: 'h2' });
  expect(await late).toMatchObject({ limits: { windows } });
  expect(keyring.cached('h1')).toMatchObject({ keyId: 'key_1', limits: { windows } });
  expect(keyring.find('h1')).toBe(keyring.cached('h1'));
  expect(store.lookups).toHaveLength(2);
});

test('own limits stay the same object when the key is found again, so that its counters continue', async () => {
  const own = { ...RECORD, windows: [window(7, MINUTE)] };
  const { store, keyring, first } = await openWith(own);
  store.changed();
  const again = keyring.find('h1');
  store.lookups[1]!.answer({ ...own, windows: own.windows.map((one) => ({ ...one })) });
  expect((await again)!.limits).toBe(first!.limits);
});

describe('while the state is down', () => {
  const outage = () => new Outage('state_unavailable');

  test('a known key stays valid after a change, and is looked up again each second', async () => {
    const { store, clock, keyring } = await openWith();
    store.changed();
    for (const lookup of [1, 2]) {
      const meanwhile = keyring.find('h1');
      store.lookups[lookup]!.fail(outage());
      expect(await meanwhile).toMatchObject({ keyId: 'key_1', withdrawn: null });
      clock.pass(999);
      expect(keyring.find('h1')).toMatchObject({ withdrawn: null });
      clock.pass(1);
    }
    const later = keyring.find('h1');
    store.lookups[3]!.answer({ ...RECORD, revokedAt: 1 });
    expect(await later).toMatchObject({ withdrawn: 'revoked' });
  });

  test('an unknown key is an outage, and is looked up again', async () => {
    const { store, keyring } = open();
    for (const lookup of [0, 1]) {
      const requested = keyring.find('h1');
      store.lookups[lookup]!.fail(outage());
      await expect(requested).rejects.toBeInstanceOf(Outage);
    }
  });
});

describe('whether any key was imported', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function openImported() {
    const { store } = open();
    const questions: PromiseWithResolvers<boolean>[] = [];
    store.hasImported = () => {
      const question = Promise.withResolvers<boolean>();
      questions.push(question);
      return question.promise;
    };
    return { store, questions, keyring: keyringOf(store) };
  }
  const outage = () => new Outage('state_unavailable');
  const settle = () => jest.advanceTimersByTimeAsync(0);

  test('is queried every second after an outage; until then secrets of any form are looked up', async () => {
    const { keyring, questions } = openImported();
    expect([keyring.acceptsImported, keyring.isReady]).toEqual([true, false]);
    questions[0]!.reject(outage());
    await keyring.opened;
    for (const again of [1, 2]) {
      await settle();
      expect([keyring.acceptsImported, keyring.isReady, questions.length]).toEqual([
        true,
        false,
        again,
      ]);
      await jest.advanceTimersByTimeAsync(1_000);
      questions.at(-1)!.reject(outage());
    }
    await settle();
    await jest.advanceTimersByTimeAsync(1_000);
    questions.at(-1)!.resolve(false);
    await keyring.whenReady;
    expect([keyring.acceptsImported, keyring.isReady]).toEqual([false, true]);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(questions).toHaveLength(4);
  });

  test('is asked again after each change, also if an earlier query is answered after it', async () => {
    const { store, keyring, questions } = openImported();
    store.changed();
    questions[0]!.resolve(false);
    await keyring.whenReady;
    expect([keyring.acceptsImported, keyring.isReady]).toEqual([true, true]);
    questions[1]!.resolve(false);
    await settle();
    expect(keyring.acceptsImported).toBe(false);
    store.changed();
    expect(keyring.acceptsImported).toBe(true);
    questions[2]!.resolve(true);
    await settle();
    expect([keyring.acceptsImported, questions.length]).toEqual([true, 3]);
  });

  test('is not queried after the close', async () => {
    const { keyring, questions } = openImported();
    questions[0]!.reject(outage());
    await keyring.opened;
    keyring.close();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(questions).toHaveLength(1);
  });
});

import { expect, test } from '@jest/globals';
import { createAdminApi } from '../../src/admin/api.ts';
import type { AdminContext } from '../../src/admin/context.ts';
import { Outage } from '../../src/common/errors/outage.ts';
import type { KeysAsOf } from '../../src/records/keys/store.ts';
import { CountersError } from '../../src/state/state.ts';
import { keyRecord } from '../support/records.ts';

const AT = '2030-01-01T00:00:00.000Z';
const down = () => Promise.reject(new Outage('state_unavailable'));
const record = keyRecord({ id: 'key_0123456789abcdef', createdAt: Date.parse(AT) });
const copy: KeysAsOf = {
  asOf: Date.parse(AT),
  get: (id) => (id === record.id ? record : null),
  async *read() {
    yield [record];
  },
};
const ban = { subject: `key:${record.id}`, until: Date.parse(AT) + 1, limit: null };
const bans = {
  asOf: Date.parse(AT),
  bans: [ban, { ...ban, subject: 'account:pro:acme', until: Date.parse(AT) }],
};

function api(lastKnown: AdminContext['lastKnown'], failing: () => Promise<never> = down) {
  const keys = {
    get: failing,
    read: () => ({ [Symbol.asyncIterator]: () => ({ next: failing }) }),
  };
  const context = {
    keys,
    state: () => ({ bans: failing }),
    auditLog: { list: failing },
    clock: () => 0,
    plans: () => ({ plans: new Map() }),
    lastKnown,
  };
  const operator = { name: 'anna', role: 'admin' } as const;
  const { call } = createAdminApi(context as unknown as AdminContext);
  return (path: string, method = 'GET') =>
    call({ id: '1', operator, method, path, query: '', headers: [], body: null } as Parameters<
      typeof call
    >[0]);
}

const copied = api({ keys: () => copy, bans: () => bans });

test('returns keys of the copy while the state is down, with its time', async () => {
  const existing = { id: record.id, plan: 'free', status: 'banned', lastUsed: null };
  const shown = expect.objectContaining(existing);
  expect((await copied('/keys')).body).toEqual({ keys: [shown], next: null, asOf: AT });
  expect((await copied(`/keys/${record.id}`)).body).toMatchObject({
    ...existing,
    asOf: AT,
  });
  await expect(copied('/keys/key_0000000000000000')).rejects.toMatchObject({ code: 'not_found' });
});

test('returns known bans while the state is down, the first to end first', async () => {
  const unknown = {
    since: null,
    limit: null,
    level: null,
    nextDuration: null,
    resetsAt: null,
    reason: null,
    by: null,
  };
  const account = {
    subject: 'account:pro:acme',
    key: null,
    account: 'acme',
    plan: 'pro',
    until: AT,
  };
  const key = { subject: ban.subject, key: record.id, account: 'acme', plan: 'free' };
  expect((await copied('/bans')).body).toEqual({
    bans: [
      { ...account, ...unknown },
      { ...key, until: '2030-01-01T00:00:00.001Z', ...unknown },
    ],
    asOf: AT,
  });
});

test('returns 503 for unknown data, with what to do', async () => {
  const message = 'The state does not respond, and this gateway has no copy of this.';
  const nothing = api({ keys: () => null, bans: () => null });
  for (const path of ['/keys', `/keys/${record.id}`, '/bans', '/audit'])
    await expect(nothing(path)).rejects.toMatchObject({ code: 'state_unavailable', message });
  await expect(copied('/audit')).rejects.toMatchObject({ code: 'state_unavailable', message });
  await expect(copied(`/keys/${record.id}`, 'DELETE')).rejects.toMatchObject({
    code: 'state_unavailable',
    message: 'The state does not respond. Repeat the call when it does.',
  });
});

test('a key whose record has the wrong shape is not shown from the copy', async () => {
  const failing = () =>
    Promise.reject(new Outage('state_unavailable', { cause: new CountersError('wrong') }));
  await expect(api({ keys: () => copy, bans: () => bans }, failing)('/keys')).rejects.toMatchObject(
    {
      message: 'Wrong.',
    },
  );
});

import { expect, test } from '@jest/globals';
import { createClient, headersOf, queryText, readQuery, type Sent } from '../src/index.ts';

function recorded() {
  const sent: { method: string; path: string; options: Sent }[] = [];
  const call = createClient(async (method, path, options) => {
    sent.push({ method, path, options });
    return { path };
  });
  return { call, sent };
}

test('a call has the method and path of its operation, and the other parameters in the query', async () => {
  const { call, sent } = recorded();
  const params = { account: 'a/b c', limit: 5, after: undefined };
  await expect(call('listKeysOfAccount', { params })).resolves.toEqual({
    path: '/accounts/a%2Fb%20c/keys',
  });
  expect(sent).toEqual([
    { method: 'GET', path: '/accounts/a%2Fb%20c/keys', options: { query: { limit: 5 } } },
  ]);
  expect(params.account).toBe('a/b c');
});

test('a call passes its body and options on', async () => {
  const { call, sent } = recorded();
  const body = { duration: '2h', reason: 'scrapes' };
  await call('addBan', { params: { subject: 'acme' }, body, reason: 'scrapes' });
  await call('getStatus');
  expect(sent).toEqual([
    { method: 'PUT', path: '/bans/acme', options: { body, reason: 'scrapes', query: {} } },
    { method: 'GET', path: '/status', options: { query: {} } },
  ]);
});

test('a call fails with the error of its transport', async () => {
  const refused = new Error('refused');
  const call = createClient(async () => {
    throw refused;
  });
  await expect(call('getStatus')).rejects.toBe(refused);
});

test.each([
  [{}, {}],
  [{ body: {} }, { 'Content-Type': 'application/json' }],
  [{ reason: '' }, {}],
  [{ reason: 'zu groß' }, { 'X-Storegate-Reason': 'zu%20gro%C3%9F' }],
  [{ idempotencyKey: 'x'.repeat(16) }, { 'Idempotency-Key': 'x'.repeat(16) }],
])('the headers of %j are %j', (sent, headers) => {
  expect(headersOf(sent)).toEqual(headers);
});

test('a query is read with the types of the contract', () => {
  const query = { limit: 10, dryRun: false, find: '10', label: 'a&b=ü', sort: '-created' };
  expect(readQuery(queryText({ ...query, after: undefined }))).toEqual(query);
  expect(readQuery('toString=1&dryRun=true')).toEqual({ toString: '1', dryRun: true });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { makeToken } from '../../src/records/operators/tokens.ts';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';

const gateway = await TestGateway.start();
afterAll(() => gateway.stop());
const admin = adminOf(gateway.adminUrl);
let id: string;
beforeEach(async () => {
  ({ id } = bodyOf(await admin('POST', '/keys', { account: 'acme', plan: 'free' })));
});

const because = (reason: string) => ({ 'X-Storegate-Reason': encodeURIComponent(reason) });
const newest = async (path = '/audit') => (await admin('GET', `${path}?limit=1`)).body.entries[0];

describe('a reason', () => {
  test.each([
    ['POST', '/disable', 'keys.disable'],
    ['PATCH', '', 'keys.update'],
    ['DELETE', '', 'keys.revoke'],
  ] as const)(
    'of %s %s is in the audit log, and a missing one is null',
    async (method, end, action) => {
      expect(await newest()).toMatchObject({ action: 'keys.create', reason: null });
      await admin(
        method,
        `/keys/${id}${end}`,
        method === 'PATCH' ? { label: 'x' } : undefined,
        because(' „Ticket“ 7 😀 '),
      );
      expect(await newest()).toMatchObject({ action, target: id, reason: '„Ticket“ 7 😀' });
    },
  );

  test('is recorded with counted changes, and with changes recorded in advance', async () => {
    await admin('POST', `/usage/${id}/reset`, undefined, because('new contract'));
    expect(await newest()).toMatchObject({ action: 'usage.reset', reason: 'new contract' });
    await admin('DELETE', `/bans/${id}`, undefined, because('a mistake'));
    expect(await newest()).toMatchObject({ action: 'bans.lift', reason: 'a mistake' });
    expect(await newest('/ban-history')).toMatchObject({
      action: 'bans.lift',
      reason: 'a mistake',
    });
  });

  test('of a ban is in its body, and the header may only repeat it', async () => {
    const ban = { duration: '1h', reason: 'scrapes' };
    expect(await admin('PUT', `/bans/${id}`, ban, because('other'))).toMatchObject({ status: 400 });
    expect(await admin('PUT', `/bans/${id}`, ban, because('scrapes'))).toMatchObject({
      status: 200,
    });
    expect(await newest()).toMatchObject({
      action: 'bans.add',
      reason: 'scrapes',
      after: { reason: 'scrapes' },
    });
    expect(await admin('PUT', `/bans/${id}`, { ...ban, reason: ' ' })).toMatchObject({
      status: 400,
    });
  });

  test('is not part of the comparison of repeated calls: the first one stays', async () => {
    const once = { 'Idempotency-Key': randomUUID() };
    const first = await admin('POST', `/keys/${id}/rotate`, {}, { ...once, ...because('first') });
    const second = await admin('POST', `/keys/${id}/rotate`, {}, { ...once, ...because('second') });
    expect(second.body).toEqual(first.body);
    expect(await newest()).toMatchObject({ action: 'keys.rotate', reason: 'first' });
  });

  test.each([
    [
      'has more than 500 characters',
      encodeURIComponent('ä'.repeat(501)),
      'more than 500 characters',
    ],
    ['has a line break', 'one%0Atwo', 'control character'],
    ['is not UTF-8', '%FF', 'percent-encoded'],
    ['has a secret', encodeURIComponent(`it was ${makeSecret('live')}`), 'give the id'],
    [
      "has an operator's token",
      encodeURIComponent(`it was ${makeToken().slice(0, -4)}`),
      'give its name',
    ],
  ])('that %s is refused, and nothing is changed', async (_what, header, words) => {
    const { status, body } = await admin('POST', `/keys/${id}/disable`, undefined, {
      'X-Storegate-Reason': header,
    });
    expect([status, body.code]).toEqual([400, 'invalid_value']);
    expect(body.message).toContain(words);
    expect(JSON.stringify(body)).not.toMatch(/sg_live|sgadmin_/);
    expect((await admin('GET', `/keys/${id}`)).body.status).toBe('active');
  });

  test('may have 500 non-ASCII characters', async () => {
    const { status } = await admin(
      'POST',
      `/keys/${id}/disable`,
      undefined,
      because('😀'.repeat(500)),
    );
    expect(status).toBe(200);
    expect((await newest()).reason).toHaveLength(1_000);
  });

  test('is accepted by every operation that leaves an entry', async () => {
    const { paths } = (await gateway.admin.get('/openapi.json')).body;
    const silent = Object.values(paths as Record<string, Record<string, Described>>)
      .flatMap((path) => ['put', 'post', 'patch', 'delete'].map((method) => path[method]))
      .filter(
        (operation) =>
          operation && !(operation.parameters ?? []).some(({ $ref }) => $ref?.endsWith('/reason')),
      )
      .map((operation) => operation!.operationId);
    expect(silent.sort()).toEqual(['identifyKey', 'simulatePlan']);
  });
});

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly { readonly $ref?: string }[];
}

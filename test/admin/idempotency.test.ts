import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';

const gateway = await TestGateway.start();
afterAll(() => gateway.stop());
const admin = adminOf(gateway.adminUrl);

const NEW = { account: 'once', plan: 'free' };
const count = async () => (await admin('GET', '/keys?account=once&limit=1000')).body.keys.length;

describe('a call with an Idempotency-Key', () => {
  test('creates one key if it is repeated, at once or later, and returns the same secret', async () => {
    const once = { 'Idempotency-Key': randomUUID() };
    const before = await count();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => admin('POST', '/keys', NEW, once)),
    );
    const later = await admin('POST', '/keys', NEW, once);
    expect(
      new Set([...responses, later].map(({ status, body }) => `${status} ${body.key}`)).size,
    ).toBe(1);
    expect(later.headers['idempotency-replayed']).toBe('true');
    expect(await count()).toBe(before + 1);
  });

  test('is refused for another request', async () => {
    const once = { 'Idempotency-Key': randomUUID() };
    await admin('POST', '/keys', NEW, once);
    const other = await admin('POST', '/keys', { ...NEW, plan: 'pro' }, once);
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
  });

  test('may be repeated after a refusal', async () => {
    const once = { 'Idempotency-Key': randomUUID() };
    expect((await admin('POST', '/keys', { ...NEW, plan: 'gold' }, once)).status).toBe(400);
    expect((await admin('POST', '/keys', NEW, once)).status).toBe(201);
  });

  test('leaves no secret in the state', async () => {
    const once = { 'Idempotency-Key': randomUUID() };
    const { key } = bodyOf(await admin('POST', '/keys', NEW, once));
    const db = openStateFile(gateway.config.data);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    const bytes = readFileSync(join(gateway.config.data, 'state.db'), 'latin1');
    expect(bytes).toContain('once');
    expect(bytes).not.toContain(key);
    expect(bytes).not.toContain(once['Idempotency-Key']);
  });

  test('is refused if its form is invalid', async () => {
    expect((await admin('POST', '/keys', NEW, { 'Idempotency-Key': 'short' })).status).toBe(400);
  });
});

test('two concurrent changes are both made', async () => {
  const { id } = bodyOf(await admin('POST', '/keys', NEW));
  await Promise.all([
    admin('PATCH', `/keys/${id}`, { label: 'both' }),
    admin('PATCH', `/keys/${id}`, { metadata: { made: 'too' } }),
    admin('POST', `/keys/${id}/disable`),
  ]);
  expect((await admin('GET', `/keys/${id}`)).body).toMatchObject({
    label: 'both',
    metadata: { made: 'too' },
    status: 'disabled',
  });
});

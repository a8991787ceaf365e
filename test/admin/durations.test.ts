import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import fc from 'fast-check';
import { type DurationField, longest, RANGES } from '../../src/config/durations.ts';
import { formatDuration, parseDuration } from '../../src/config/units.ts';
import { adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';

const gateway = await TestGateway.start();
afterAll(() => gateway.stop());
const admin = adminOf(gateway.adminUrl);
const { id } = await gateway.key();

const KEY = { account: 'acme', plan: 'free' };
const BAN = { reason: 'abuse' };
const hash = () => createHash('sha256').update(randomBytes(8)).digest('hex');

/** Every call with a duration in its body: method, path, field, and the other fields. */
const ROWS: readonly (readonly [string, string, DurationField, object])[] = [
  ['POST', '/keys', 'expiresIn', KEY],
  ['PATCH', '/keys/ID', 'expiresIn', {}],
  ['POST', '/keys/import', 'expiresIn', KEY],
  ['POST', '/keys/ID/rotate', 'overlap', { force: true }],
  ['PUT', '/bans/ID', 'duration', BAN],
  ['POST', '/bans/ID/extend', 'duration', BAN],
];

function call([method, path, field, more]: (typeof ROWS)[number], text: string) {
  const own = path.endsWith('/import') && { hash: hash() };
  return admin(method, path.replace('ID', id), { ...more, ...own, [field]: text });
}

describe('durations of calls', () => {
  test('are in the table of ranges, and their maxima in the contract', () => {
    const text = readFileSync(ADMIN_CONTRACT, 'utf8');
    const uses = [...text.matchAll(/(\w+): \{ \$ref: '#\/components\/schemas\/Duration' \}/g)].map(
      ([, name]) => name!,
    );
    // A period before now, of at most a day, is not added to anything.
    const fields = new Set(uses.filter((name) => name !== 'schema'));
    expect([...fields].sort()).toEqual(Object.keys(RANGES).sort());
    for (const field of Object.keys(RANGES) as DurationField[])
      expect(text).toContain(`${formatDuration(longest(field))}`);
    expect(new Set(ROWS.map(([, , field]) => field))).toEqual(new Set(Object.keys(RANGES)));
  });

  test.each(ROWS)(
    '%s %s: take the longest, and are refused a day longer with place and range',
    async (...row) => {
      const field = row[2];
      const most = longest(field);
      await admin('PUT', `/bans/${id}`, { ...BAN, duration: '1m' });
      expect([200, 201]).toContain((await call(row, formatDuration(most))).status);
      for (const text of [`${most / 86_400_000 + 1}d`, '99999999d', '999999999d']) {
        const { status, body } = await call(row, text);
        expect(status).toBe(400);
        expect(body.details).toEqual([
          {
            in: 'body',
            pointer: `/${field}`,
            rule: 'unfit',
            message: expect.stringContaining(formatDuration(most)),
          },
        ]);
      }
    },
  );

  test('that the contract admits never end in 500', async () => {
    const duration = fc
      .tuple(fc.nat({ max: 999_999_999 }), fc.constantFrom('ms', 's', 'm', 'h', 'd'))
      .map(([count, unit]) => `${count}${unit}`);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ROWS), duration, async (row, text) => {
        const { status } = await call(row, text);
        const isFit = parseDuration(text)! <= longest(row[2]);
        expect(isFit ? [200, 201, 400, 409] : [400]).toContain(status);
      }),
      { numRuns: 100 },
    );
  });
});

test('an expiry is a time that RFC 3339 can write', async () => {
  const expires = (time: string) => admin('POST', '/keys', { ...KEY, expires: time });
  expect((await expires('9999-12-31T23:59:59Z')).body.expires).toBe('9999-12-31T23:59:59.000Z');
  const { status, body } = await expires('9999-12-31T23:59:59-01:00');
  expect(status).toBe(400);
  expect(body.details).toMatchObject([
    { pointer: '/expires', message: 'must be from the year 1970 to the year 9999, in UTC' },
  ]);
  const many = { keys: [{ ...KEY, hash: hash(), expires: '9999-12-31T23:59:59-01:00' }] };
  const bulk = await admin('POST', '/keys/import-many', many);
  expect([bulk.status, bulk.body.details[0].pointer]).toEqual([400, '/keys/0/expires']);
});

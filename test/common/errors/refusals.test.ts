import { describe, expect, test } from '@jest/globals';
import { ADMIN_ERRORS, type AdminCode, AdminError } from '../../../src/admin/admin-error.ts';
import { CATALOGUE, type Code, ERROR_CODES } from '../../../src/common/errors/catalogue.ts';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import { maskSecrets } from '../../../src/common/secret-mask.ts';
import { makeSecret } from '../../../src/records/keys/secret.ts';

const KEY = 'sg_live_4vT9zQ1mWx7LpA2sKd8RbN5cYh3JgF6e_0aB3xZ';
const LIKE_KEYS = [
  KEY,
  KEY.slice(0, 24),
  KEY.slice(0, 16),
  KEY.toUpperCase(),
  KEY.toLowerCase(),
  makeSecret('test'),
];

test.each(LIKE_KEYS)('masks %s in every member', (key) => {
  const refusal = new Refusal('invalid_request', {
    message: `The key ${key} is not valid.`,
    reason: `guessed ${key}`,
    details: [
      { in: 'body', pointer: `/${key}`, message: `${key} is not a valid name`, rule: 'type' },
    ],
    headers: ['Link', `</keys/${key}>`],
  });
  const details = [
    { in: 'body', pointer: '/sg_…', message: 'sg_… is not a valid name', rule: 'type' },
  ];
  expect(JSON.parse(refusal.body)).toMatchObject({
    message: 'The key sg_… is not valid.',
    details,
  });
  expect(JSON.parse(refusal.problem)).toMatchObject({
    detail: 'The key sg_… is not valid.',
    details,
  });
  expect(refusal).toMatchObject({
    message: 'The key sg_… is not valid.',
    reason: 'guessed sg_…',
    details,
  });
  expect(refusal.headers).toEqual(['Link', '</keys/sg_…>']);
});

test.each(['sg_team_frontend', 'sg_team_a1', 'SG_TEAM_PLATFORM', 'key_4vT9zQ1mWx7LpA2s'])(
  'keeps the name %s',
  (name) => {
    expect(maskSecrets(name)).toBe(name);
  },
);

describe.each(ERROR_CODES.map(({ code }) => code))('%s', (code: Code) => {
  const { status, title, advice } = CATALOGUE[code];

  test('has a message of two sentences: what happened, and what to do', () => {
    for (const sentence of [title, advice])
      expect(sentence).toMatch(/^[A-Z][^.!?]*(?:\.\d[^.!?]*|\.json[^.!?]*)*\.$/);
    expect(new Refusal(code).message).toBe(`${title} ${advice.replaceAll('`', '')}`);
  });

  test('says to wait for Retry-After if it is a 429, a 503 or a ban, and only then', () => {
    const waits = [429, 503].includes(status) || code === 'key_banned';
    expect(advice.includes('`Retry-After`')).toBe(waits);
  });

  test('has the Retry-After of an outage if it is a 503, and only then', () => {
    const { headers } = new Refusal(code);
    expect(headers).toEqual(status === 503 ? ['Retry-After', '1'] : []);
  });

  test('links to its entry on the reference page, in both forms', () => {
    const { link, problem } = new Refusal(code);
    expect(link).toBe(`</docs/#errors-${code}>; rel="help"`);
    expect(JSON.parse(problem).type).toBe(`/docs/#errors-${code}`);
  });
});

test.each(ADMIN_ERRORS)(
  'of the admin API, $status $code says to wait for Retry-After if it has it',
  ({ code, status, advice }) => {
    expect(advice.includes('`Retry-After`')).toBe([429, 503].includes(status));
    const { headers } = new AdminError(code as AdminCode, 'It failed.');
    expect('Retry-After' in headers).toBe(status === 503);
  },
);

test('a message that quotes the request is not recorded', () => {
  const { message, recorded } = new Refusal('not_found', {
    message: 'No operation matches GET /mine.',
    echoes: true,
  });
  expect([message, recorded]).toEqual([
    'No operation matches GET /mine.',
    CATALOGUE.not_found.title,
  ]);
  expect(new Refusal('not_found').recorded).toBe(new Refusal('not_found').message);
});

import { afterAll, describe, expect, test } from '@jest/globals';
import type { Fault, Rule } from '@storegate/openapi';
import { CATALOGUE } from '../../../src/common/errors/catalogue.ts';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import type { Operation } from '../../../src/config/contract/contract.ts';
import type { Side } from '../../../src/gateway/contract-reports.ts';
import type { RouteMatch } from '../../../src/gateway/routes.ts';
import { createContract } from '../../../src/gateway/stages/contract.ts';
import { createLargeChecks } from '../../../src/gateway/stages/large-checks.ts';
import { createBodies } from '../../../src/gateway/wire/bodies.ts';
import { looseCall } from '../../support/call.ts';
import { admittedClient, exchangeOf, matchOf, targetOf } from '../../support/exchange.ts';
import { TestClock } from '../../support/limits.ts';

const fault = (message: string): Fault => ({
  in: 'query',
  pointer: '/limit',
  message,
  rule: 'type',
});
const bodyFault = (message: string, rule: Rule = 'type'): Fault => ({
  in: 'body',
  pointer: '',
  message,
  rule,
});

function operation(given: Partial<Operation> = {}): Operation {
  return {
    id: 'createPet',
    method: 'POST',
    sunset: null,
    reportOnly: false,
    requiredScopes: [],
    ready: () => null,
    checkParameters: (_parameters: unknown, query: string) =>
      query === 'wrong' ? [fault('must be a number')] : [],
    body: {
      required: true,
      accepted: ['application/json'],
      media: (type: string | undefined) =>
        type === 'application/json'
          ? {
              type,
              check: (bytes: Uint8Array) =>
                Buffer.from(bytes).toString() === 'wrong' ? [bodyFault('must be an object')] : [],
            }
          : null,
    },
    ...given,
  } as Operation;
}

const bodies = createBodies({ budget: 1024 ** 2, minRate: 0 });
afterAll(() => bodies.close());

function checking({
  refuseAfterSunset = true,
  scopes = [] as readonly string[],
  apis = null as readonly string[] | null,
} = {}) {
  const clock = new TestClock();
  const reports: [Side, readonly Fault[]][] = [];
  const check = createContract({
    bodies,
    largeChecks: createLargeChecks(),
    refuseAfterSunset,
    clock: clock.read,
    report: (_exchange, side, faults) => void reports.push([side, faults]),
    similar: (path) => (path === '/pet' ? '/pets' : null),
    elsewhere: null,
  });
  const client = admittedClient({ scopes, apis });
  function send(
    {
      headers = {},
      pieces = [],
      url = '/pets',
    }: { headers?: Record<string, string>; pieces?: string[]; url?: string },
    match: RouteMatch = to(),
  ) {
    const length = pieces.join('').length;
    const all = length > 0 ? { 'Content-Length': `${length}`, ...headers } : headers;
    const { call } = looseCall('POST', all);
    for (const piece of pieces) setImmediate(() => call.takeBody(Buffer.from(piece)));
    setImmediate(() => call.endBody());
    return check(exchangeOf('POST', all, { call }), client, targetOf(url), match);
  }
  return { asked: send, client, reports };
}

const json = { 'Content-Type': 'application/json' };
/** The largest body of a route is 16 bytes. */
const to = (given: Partial<Operation> = {}): RouteMatch =>
  matchOf({ operation: operation(given), maxBodyBytes: 16 });

/** The check may throw or reject. */
async function refusal(check: () => unknown): Promise<Refusal> {
  try {
    await check();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Refusal);
    return thrown as Refusal;
  }
  throw new Error('nothing was refused');
}

describe('a valid request', () => {
  test('without a body is checked synchronously', () => {
    const { asked: send, client } = checking();
    expect(send({ url: '/pets?limit=1' }, to({ body: null }))).toMatchObject({
      client,
      target: { path: '/pets', query: 'limit=1' },
      route: { operation: { id: 'createPet' } },
      body: null,
    });
  });

  test('is forwarded with the same bytes, in however many pieces they came', async () => {
    const { asked: send } = checking();
    const { body } = await send({ headers: json, pieces: ['{"a"', ':', '1 }'] });
    expect(body?.toString()).toBe('{"a":1 }');
  });
});

describe('an invalid request is refused', () => {
  test('with every fault of parameters and body', async () => {
    const { asked: send } = checking();
    const refused = await refusal(() =>
      send({ headers: json, pieces: ['wrong'], url: '/pets?wrong' }),
    );
    expect(refused).toMatchObject({
      code: 'invalid_request',
      status: 400,
      details: [fault('must be a number'), bodyFault('must be an object')],
    });
    expect(refused.message).toBe('Query parameter limit must be a number. See details for 1 more.');
  });

  test.each<[string, number, boolean]>([
    [' See details for at least 49 more.', 50, false],
    [' See details for at least 1 more.', 2, true],
    [' See details for more.', 1, true],
    [' See details for 48 more.', 49, false],
    ['', 1, false],
  ])('with the number of others: %j', async (others, count, more) => {
    const { asked: send } = checking();
    const faults = [
      ...Array(count).fill(fault('wrong')),
      ...(more ? [bodyFault('and more', 'more')] : []),
    ];
    const refused = await refusal(() =>
      send({}, to({ body: null, checkParameters: () => faults })),
    );
    expect(refused.message).toBe(`Query parameter limit wrong.${others}`);
  });

  test.each([
    ['', 'The query is wrong.'],
    ['/', 'Query parameter "" is wrong.'],
  ])('with the place that the pointer "%s" names', async (pointer, message) => {
    const { asked: send } = checking();
    const wrong = { ...fault('is wrong'), pointer };
    const refused = await refusal(() =>
      send({}, to({ body: null, checkParameters: () => [wrong] })),
    );
    expect(refused.message).toBe(message);
  });

  test.each<[string, Parameters<ReturnType<typeof checking>['asked']>, object]>([
    [
      'a body that must be there',
      [{}],
      { details: [bodyFault('request body is required', 'required')] },
    ],
    [
      'a body that must not',
      [{ pieces: ['x'] }, to({ body: null })],
      { details: [bodyFault('request body is not allowed', 'unexpected')] },
    ],
    [
      'another media type',
      [{ headers: { 'Content-Type': 'text/plain' }, pieces: ['x'] }],
      { status: 415 },
    ],
    [
      'a coded body',
      [{ headers: { ...json, 'Content-Encoding': 'gzip' }, pieces: ['x'] }],
      { status: 415 },
    ],
    [
      'a body that is too large',
      [{ headers: json, pieces: ['x'.repeat(17)] }],
      { code: 'payload_too_large' },
    ],
    [
      'an unknown path',
      [{ url: '/pet?api_key=x' }, { kind: 'not_found' }],
      { status: 404, message: 'No operation matches POST /pet. Did you mean /pets?' },
    ],
    [
      'another method',
      [{}, { kind: 'method_not_allowed', allow: ['GET', 'HEAD'] }],
      {
        status: 405,
        message: 'POST is not allowed for /pets. Allowed: GET, HEAD.',
        headers: ['Allow', 'GET, HEAD'],
      },
    ],
    [
      'an operation past its sunset',
      [{}, to({ sunset: 1 })],
      { code: 'operation_sunset', status: 410 },
    ],
  ])('%s', async (_what, question, expected) => {
    const { asked: send } = checking();
    expect(await refusal(() => send(...question))).toMatchObject(expected);
  });
});

test('an operation past its sunset is served if the operator chose so', () => {
  const { asked: send } = checking({ refuseAfterSunset: false });
  expect(send({}, to({ sunset: 1, body: null }))).toMatchObject({
    route: { operation: { sunset: 1 } },
  });
});

describe('an operation that passes because of mistakes in the contract', () => {
  const passing = to({ exempt: 'pass', body: null, checkParameters: () => [] });

  test('accepts everything, and reports nothing', async () => {
    const { asked: send, reports } = checking();
    const headers = { 'Content-Type': 'odd', 'Content-Encoding': 'gzip' };
    const checked = await send({ headers, pieces: ['wrong'], url: '/pets?wrong' }, passing);
    expect([checked.body?.toString(), reports]).toEqual(['wrong', []]);
  });

  test('still refuses a body that is too large', async () => {
    const { asked: send } = checking();
    expect((await refusal(() => send({ pieces: ['x'.repeat(17)] }, passing))).code).toBe(
      'payload_too_large',
    );
  });
});

describe('an operation that only reports', () => {
  test('forwards every fault, and reports each once', async () => {
    const { asked: send, reports } = checking();
    const checked = await send(
      { headers: json, pieces: ['wrong'], url: '/pets?wrong' },
      to({ reportOnly: true }),
    );
    expect(checked.body?.toString()).toBe('wrong');
    expect(reports).toEqual([
      ['request', [fault('must be a number'), bodyFault('must be an object')]],
    ]);
  });

  test('still refuses a body that is too large', async () => {
    const { asked: send, reports } = checking();
    const refused = await refusal(() =>
      send({ pieces: ['x'.repeat(17)] }, to({ reportOnly: true })),
    );
    expect(refused.code).toBe('payload_too_large');
    expect(reports).toEqual([]);
  });
});

describe('a key for some APIs', () => {
  test.each<[string, RouteMatch]>([
    ['an operation', to()],
    ['a path without an operation', { kind: 'not_found' }],
    ['a method without an operation', { kind: 'method_not_allowed', allow: ['GET'] }],
  ])('is refused for %s of another API', async (_what, match) => {
    const { asked: send } = checking({ apis: ['notes', 'files'] });
    expect(await refusal(() => send({ headers: json, pieces: ['{}'] }, match))).toMatchObject({
      code: 'api_not_allowed',
      status: 403,
      message: `This API key may only be used for notes, files. ${CATALOGUE.api_not_allowed.advice}`,
    });
  });

  test('is accepted for its own, which may be the default one', async () => {
    const { asked: send } = checking({ apis: ['notes', 'default'] });
    expect((await send({ headers: json, pieces: ['{}'] })).body).toEqual(Buffer.from('{}'));
  });
});

describe('an operation that needs scopes', () => {
  const needing = (given: Partial<Operation> = {}) =>
    to({ requiredScopes: ['read', 'write'], ...given });

  test.each<[readonly string[], string]>([
    [[], 'This API key lacks the scopes read, write.'],
    [['write', 'READ', 'read ', 're'], 'This API key lacks the scope read.'],
    [['read'], 'This API key lacks the scope write.'],
  ])('refuses a key that has %j', async (scopes, message) => {
    const { asked: send } = checking({ scopes });
    expect(await refusal(() => send({ headers: json, pieces: ['{}'] }, needing()))).toMatchObject({
      code: 'scope_missing',
      status: 403,
      message: `${message} ${CATALOGUE.scope_missing.advice}`,
      headers: [
        'WWW-Authenticate',
        'Bearer realm="storegate", error="insufficient_scope", scope="read write"',
      ],
    });
  });

  test('accepts a key that has all of them, in any order and with others', async () => {
    const { asked: send } = checking({ scopes: ['write', 'other', 'read'] });
    expect(await send({ headers: json, pieces: ['{}'] }, needing())).toMatchObject({
      body: Buffer.from('{}'),
    });
  });

  test.each<[string, Partial<Operation>]>([
    ['is report-only', { reportOnly: true }],
    ['passes, because the contract has mistakes in it', { exempt: 'pass' }],
    ['is past its sunset', { sunset: 1 }],
    [
      'is not compiled yet',
      {
        ready: () => {
          throw new Error('it was compiled');
        },
      },
    ],
    [
      'would find faults',
      {
        checkParameters: () => {
          throw new Error('it was checked');
        },
      },
    ],
  ])('refuses it before all other checks, also if it %s', async (_what, given) => {
    const { asked: send, reports } = checking();
    const refused = await refusal(() => send({ pieces: ['x'.repeat(17)] }, needing(given)));
    expect([refused.code, reports]).toEqual(['scope_missing', []]);
  });
});

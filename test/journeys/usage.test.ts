import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadContract } from '../../src/config/contract/contract.ts';
import { carriesTheHeadersOfEveryAnswer } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { MINUTE } from '../support/limits.ts';
import { until } from '../support/until.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({
    plans: `plans:
  free: { windows: [{ limit: 3, per: minute }, { limit: 1000, per: day }] }
  team: { count: account, windows: [{ limit: 10, per: minute }] }
bans: { strikes: 3, workers: 1, window: 1m, durations: [1m, 5m] }
`,
  });
});
afterAll(() => gateway.stop());

const usage = (key: string) => gateway.client.get('/usage').set('X-API-Key', key);
const pets = (key: string) => gateway.client.get('/pets').set('X-API-Key', key);

describe('GET /usage', () => {
  test('returns the usage of a month or a day of the key alone', async () => {
    const [mine, other] = [await gateway.key(), await gateway.key()];
    for (const { secret } of [mine, mine, other]) await pets(secret);
    await pets(mine.secret);
    await pets(mine.secret);
    const day = new Date(gateway.clock.now).toISOString().slice(0, 10);
    const of = async (period: string) =>
      await gateway.client
        .get(`/usage?period=${period}`)
        .set('X-API-Key', mine.secret)
        .then(({ body, status, headers }) => ({ status, headers, ...body }));
    await until('all are counted', async () => {
      const { period } = await of(day);
      return period.operations[0]?.requests === 4;
    });
    const { period } = await of(day.slice(0, 7));
    expect(period).toMatchObject({
      name: day.slice(0, 7),
      operations: expect.arrayContaining([
        expect.objectContaining({ operation: 'listPets', requests: 4, units: 3, refused: 1 }),
      ]),
    });
    expect(Date.parse(period.since)).toBeLessThanOrEqual(gateway.clock.now);
    expect((await of('2020-02')).period.operations).toEqual([]);
    expect(await of('2020-13')).toMatchObject({
      code: 'invalid_request',
      details: [{ in: 'query', pointer: '/period' }],
    });
    let last = await of(day);
    for (let i = 0; i < 10; i++) last = await of(day);
    expect(last).toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      headers: { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0' },
    });
    expect((await usage(mine.secret)).status).toBe(200);
  });

  test('returns plan, windows, costs, escalation and key, costs nothing, and matches the published document', async () => {
    const { secret, id } = await gateway.key({ label: 'mine', scopes: ['pets:write'] });
    await pets(secret);
    const response = await usage(secret);
    expect(response.status).toBe(200);
    carriesTheHeadersOfEveryAnswer(response);
    expect(response.body).toMatchObject({
      plan: 'free',
      account: 'acme',
      countedBy: 'key',
      windows: [
        {
          name: 'minute',
          limit: 3,
          used: 1,
          remaining: 2,
          reset: new Date(gateway.clock.now + MINUTE).toISOString(),
        },
        { name: 'day', limit: 1000, used: 1, remaining: 999 },
      ],
      inFlight: null,
      costs: { listPets: 1 },
      ban: { until: null, strikes: 0, strikesToBan: 3, nextLengthSeconds: 60 },
      key: {
        id,
        label: 'mine',
        scopes: ['pets:write'],
        ageDays: 0,
        expires: null,
        rotated: null,
        retires: null,
      },
      deprecated: [],
    });
    expect((await usage(secret)).body).toEqual(response.body);
    const file = join(gateway.folder, 'served.json');
    writeFileSync(file, (await gateway.client.get('/openapi.json')).text);
    const { operation } = loadContract(file).match('GET', '/usage');
    expect(
      operation!.checkResponse(200, response.headers['content-type'], Buffer.from(response.text)),
    ).toEqual([]);
  });

  test('returns 304 until something changes', async () => {
    const { secret } = await gateway.key();
    const { etag } = (await usage(secret)).headers;
    gateway.clock.pass(10);
    const again = await usage(secret).set('If-None-Match', `W/"other", ${etag}`);
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' });
    carriesTheHeadersOfEveryAnswer(again);
    await pets(secret);
    expect((await usage(secret).set('If-None-Match', etag!)).status).toBe(200);
  });

  test('warns one strike before a ban, shows the ban and the next step, and never adds to them', async () => {
    const { secret } = await gateway.key();
    const responses = [];
    for (let i = 0; i < 7; i++) {
      gateway.clock.pass(150);
      responses.push(await pets(secret));
      await usage(secret);
    }
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429, 429, 403]);
    expect(responses.map(({ headers }) => headers['x-ban-warning'])).toEqual([
      ...Array(5).fill(undefined),
      'strikes-left=1',
      undefined,
    ]);
    expect(responses[5]!.body.message).toContain('The next request sent earlier bans this key');
    expect(responses[4]!.body.message).not.toContain('the next request');
    const { body, status } = await usage(secret);
    expect(status).toBe(200);
    expect(body.ban).toEqual({
      until: new Date(gateway.clock.now + MINUTE).toISOString(),
      strikes: 0,
      strikesToBan: 3,
      nextLengthSeconds: 300,
    });
  });

  test('names the deprecated operations that the key called, with their sunsets', async () => {
    const { secret } = await gateway.key();
    const { headers } = await gateway.client.get('/pets/1').set('X-API-Key', secret);
    expect(headers).toMatchObject({
      deprecation: expect.stringMatching(/^@\d{10}$/),
      sunset: expect.stringMatching(/ GMT$/),
      link: expect.stringContaining('rel="successor-version"'),
    });
    expect((await usage(secret)).body.deprecated).toEqual([
      {
        operation: 'getPet',
        lastCall: new Date(gateway.clock.now).toISOString(),
        sunset: '2027-10-01T00:00:00.000Z',
      },
    ]);
  });

  test('needs a key, accepts GET and HEAD, and supports browsers', async () => {
    expect((await gateway.client.get('/usage')).status).toBe(401);
    const { secret } = await gateway.key();
    const posted = await gateway.client.post('/usage').set('X-API-Key', secret);
    expect(posted.status).toBe(405);
    expect(posted.headers.allow).toBe('GET, HEAD');
    expect((await gateway.client.head('/usage').set('X-API-Key', secret)).status).toBe(200);
    const page = await usage(secret).set('Origin', 'https://app.example');
    expect(page.headers['access-control-expose-headers']).toBe('*');
  });
});

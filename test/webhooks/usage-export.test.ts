import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { Event, RequestTrace } from '../../src/observe/events.ts';
import { usageInRedis } from '../../src/state/redis/usage.ts';
import { createUsageExport, type UsageEvent } from '../../src/webhooks/usage-export.ts';
import { folderWith } from '../config/folder.ts';
import { freePort } from '../support/free-port.ts';
import { TestGateway } from '../support/gateway.ts';
import { HOUR, MINUTE, SECOND, TestClock } from '../support/limits.ts';
import { makeWebhookSecret } from '../support/receiver.ts';
import { redisForSuite } from '../support/redis/suite.ts';
import { requestEvent } from '../support/request-event.ts';
import { until } from '../support/until.ts';

const NOON = Date.UTC(2026, 0, 1, 12);

/** Counts each event once, by source and id, as receivers of CloudEvents do. */
async function startMeter() {
  const events = new Map<string, UsageEvent>();
  const heads: IncomingHttpHeaders[] = [];
  const meter = {
    posts: 0,
    repeated: 0,
    answer: 'accept' as 'accept' | 'refuse' | 'cut',
    refuseAfter: Number.POSITIVE_INFINITY,
    /** The status of a batch; 204: it is accepted. */
    judge: (_events: readonly UsageEvent[]): number => 204,
  };
  const server = createServer(async (request, response) => {
    const posted = (await json(request)) as UsageEvent[];
    heads.push(request.headers);
    meter.posts++;
    if (meter.answer === 'refuse' || meter.posts > meter.refuseAfter)
      return response.writeHead(503).end();
    const status = meter.judge(posted);
    if (status !== 204) return response.writeHead(status).end();
    for (const event of posted) {
      const name = `${event.source} ${event.id}`;
      if (events.has(name)) meter.repeated++;
      else events.set(name, event);
    }
    return meter.answer === 'cut' ? request.socket.destroy() : response.writeHead(204).end();
  });
  server.listen(await freePort(), '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return Object.assign(meter, {
    url: `http://127.0.0.1:${port}/api/v1/events?s3cr3t`,
    heads,
    events: () => [...events.values()],
    units: (subject: string) =>
      [...events.values()]
        .filter((event) => event.subject === subject)
        .reduce((sum, { data }) => sum + Number(data.units), 0),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

const own = redisForSuite();
let meter: Awaited<ReturnType<typeof startMeter>>;
beforeEach(async () => {
  await own.server.admin.flushall();
  meter = await startMeter();
});
afterEach(() => meter.stop());

const trace = (cost: number) => ({ admission: null, subject: null, cost, received: 0, sent: 7 });

/** A process of a gateway, on the Redis of the suite. */
function gateway(clock: TestClock) {
  const { usage, webhooks, plans } = loadConfig({ cwd: folderWith(), env: {} });
  const events: Event[] = [];
  const observe = (event: Event) => void events.push(event);
  const config: Pick<Config, 'usage' | 'webhooks'> = {
    usage: { ...usage, export: { url: meter.url, token: 't0ken' } },
    webhooks: { ...webhooks, secret: makeWebhookSecret() },
  };
  const ledger = createLedger({ clock: clock.read, observe });
  ledger.use({ usage, plans });
  ledger.begin(
    { ledger: usageInRedis(own.redis) },
    createUsageExport({ config, clock: clock.read, observe }),
  );
  return {
    ledger,
    types: () => events.map(({ type }) => type),
    /** Accounts of events that were set aside. */
    setAside: () =>
      events.flatMap((event) => (event.type === 'usage.export_refused' ? event.account : [])),
    async send(account: string, cost: number) {
      const about = { keyId: `key_${account}`, account, trace: trace(cost) as RequestTrace };
      ledger.observe(requestEvent(about));
      await ledger.writer.flush();
    },
  };
}

/** Passes the minute, and the time in which a failover may lose it. */
async function pass(clock: TestClock, ...gateways: ReturnType<typeof gateway>[]) {
  for (const time of [MINUTE, 11 * SECOND]) {
    clock.pass(time);
    for (const { ledger } of gateways) await ledger.writer.flush();
  }
}

describe('an export of usage', () => {
  test('posts a signed batch of CloudEvents, each with the sums of a minute', async () => {
    const clock = new TestClock(NOON);
    const one = gateway(clock);
    await one.send('acme', 2);
    await one.send('acme', 3);
    one.ledger.observe(
      requestEvent({ keyId: null, account: null, trace: trace(1) as RequestTrace }),
    );
    await pass(clock, one);
    await one.ledger.roll();
    expect(meter.events()).toEqual([
      {
        specversion: '1.0',
        id: expect.stringMatching(/^[\w-]{32}$/),
        source: 'storegate',
        type: 'storegate.usage',
        subject: 'acme',
        time: '2026-01-01T12:00:00.000Z',
        data: {
          key: 'key_acme',
          plan: 'free',
          operation: 'listPets',
          status: 200,
          requests: 2,
          units: 5,
          refused: 0,
          failed: 0,
          received: 0,
          sent: 14,
        },
      },
    ]);
    expect(meter.heads).toMatchObject([
      {
        'content-type': 'application/cloudevents-batch+json; charset=utf-8',
        authorization: 'Bearer t0ken',
        'webhook-signature': expect.stringMatching(/^v1,/),
      },
    ]);
    await one.ledger.roll();
    expect(meter.posts).toBe(1);
    await one.ledger.close();
  });

  test('has each request once after an outage, lost responses and a change of the gateway', async () => {
    const clock = new TestClock(NOON);
    const [one, other] = [gateway(clock), gateway(clock)];
    const responses = ['accept', 'cut', 'refuse', 'cut', 'accept', 'accept'] as const;
    for (const [minute, response] of responses.entries()) {
      meter.answer = response;
      await one.send('acme', 1);
      await other.send('acme', 10);
      await other.send('globex', 100);
      await pass(clock, one, other);
      await (minute % 2 === 0 ? one : other).ledger.roll();
    }
    clock.pass(HOUR);
    await one.ledger.roll();
    expect([meter.units('acme'), meter.units('globex')]).toEqual([66, 600]);
    expect(meter.repeated).toBeGreaterThan(0);
    expect(one.ledger.exportDelay).toBe(0);
    for (const { ledger } of [one, other]) await ledger.close();
  });

  test('continues a large minute where the receiver stopped', async () => {
    const clock = new TestClock(NOON);
    const one = gateway(clock);
    for (let i = 0; i < 1_200; i++)
      one.ledger.observe(requestEvent({ keyId: `key_${i}`, trace: trace(1) as RequestTrace }));
    await pass(clock, one);
    meter.refuseAfter = 1;
    await one.ledger.roll();
    expect(meter.events()).toHaveLength(500);
    meter.refuseAfter = Number.POSITIVE_INFINITY;
    clock.pass(MINUTE);
    await one.ledger.roll();
    expect([meter.units('acme'), meter.posts, meter.repeated]).toEqual([1_200, 4, 0]);
    await one.ledger.close();
  });

  const refusing = (status: number, ...accounts: string[]) => {
    meter.judge = (posted) =>
      posted.some(({ subject }) => accounts.includes(subject)) ? status : 204;
  };
  const nextMinute = async (clock: TestClock, one: ReturnType<typeof gateway>) => {
    await pass(clock, one);
    await one.ledger.roll();
  };

  test('sets aside what is refused for its content, and nothing else', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(400, 413, 422),
        fc.array(fc.array(fc.nat(9), { minLength: 1, maxLength: 40 }), { maxLength: 4 }),
        fc.subarray([0, 1, 2, 3, 4, 5, 6, 7, 8]),
        async (status, minutes, poisonous) => {
          await own.server.admin.flushall();
          const clock = new TestClock(NOON);
          const one = gateway(clock);
          const run = ++runs;
          const name = (place: number) => `account-${place}-${run}-${clock.now}`;
          const [good, bad] = [[] as string[], [] as string[]];
          const send = async (places: readonly number[]) => {
            for (const place of new Set(places)) {
              (poisonous.includes(place) ? bad : good).push(name(place));
              await one.send(name(place), 1);
            }
            await nextMinute(clock, one);
          };
          meter.judge = (posted) =>
            posted.some(({ subject }) => bad.includes(subject)) ? status : 204;
          for (const places of minutes) await send(places);
          // The receiver accepts something.
          await send([9]);
          expect(good.map(meter.units)).toEqual(good.map(() => 1));
          expect(one.setAside().sort()).toEqual(bad.sort());
          expect(one.ledger.exportDelay).toBe(0);
          await one.ledger.close();
        },
      ),
      { numRuns: 20, examples: [413, 422].map((status) => [status, [[1, 2, 3]], [2]]) },
    );
  });

  test('sets nothing aside while the receiver refuses everything, and loses nothing', async () => {
    const clock = new TestClock(NOON);
    const one = gateway(clock);
    meter.judge = () => 400;
    for (let minute = 0; minute < 3; minute++) {
      for (let i = 0; i < 30; i++) await one.send(`account-${i}`, 1);
      await nextMinute(clock, one);
    }
    expect([one.setAside(), one.types()]).toEqual([[], ['usage.export_failed']]);
    expect(one.ledger.exportDelay).toBeGreaterThan(2 * MINUTE);
    refusing(400, 'account-7');
    await nextMinute(clock, one);
    expect(one.setAside()).toEqual(Array(3).fill('account-7'));
    expect(meter.units('account-8')).toBe(3);
    await one.ledger.close();
  });

  test('waits after other statuses, which refuse no content', async () => {
    const clock = new TestClock(NOON);
    const one = gateway(clock);
    for (const account of ['acme', 'globex']) await one.send(account, 1);
    refusing(404, 'globex');
    await nextMinute(clock, one);
    expect([one.setAside(), meter.posts, meter.units('acme')]).toEqual([[], 1, 0]);
    await one.ledger.close();
  });

  test('pauses after a failure, and reports the first failure and the recovery', async () => {
    const clock = new TestClock(NOON);
    const one = gateway(clock);
    meter.answer = 'refuse';
    await one.send('acme', 1);
    await pass(clock, one);
    await one.ledger.roll();
    await one.ledger.roll();
    expect([meter.posts, one.ledger.exportDelay]).toEqual([1, MINUTE + 11 * SECOND]);
    clock.pass(MINUTE);
    await one.ledger.roll();
    meter.answer = 'accept';
    clock.pass(MINUTE);
    await one.ledger.roll();
    expect(one.types()).toEqual(['usage.export_failed', 'usage.export_recovered']);
    await one.ledger.close();
  });
});

test('a gateway exports what its clients used, without the address of the receiver in the log', async () => {
  const settings = `usage: { export: { url: "${meter.url}" } }\n`;
  const one = await TestGateway.start({ settings });
  try {
    const { secret } = await one.key();
    await one.close();
    // The first turn of a process comes 3 seconds after the minute.
    one.clock.pass(2 * MINUTE - (one.clock.now % MINUTE) - 10);
    meter.answer = 'refuse';
    await one.open();
    await (await fetch(`${one.url}/pets`, { headers: { 'X-API-Key': secret } })).arrayBuffer();
    one.clock.pass(10 * SECOND);
    await until('it is posted', () => meter.posts > 0);
    await until('the failure is logged', () =>
      one.log.some(({ msg }) => msg === 'usage.export_failed'),
    );
    expect(JSON.stringify(one.log)).not.toContain('s3cr3t');
  } finally {
    await one.stop();
  }
});

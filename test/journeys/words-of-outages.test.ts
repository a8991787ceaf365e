import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ROUTES } from '../../packages/admin-api/src/generated/operations.ts';
import { adminOf } from '../support/admin.ts';
import { TestBrowser } from '../support/browser.ts';
import { commandLine } from '../support/command-line.ts';
import { freePort } from '../support/free-port.ts';
import type { GatewayOptions, TestGateway } from '../support/gateway.ts';
import { gatewaysOfTests } from '../support/gateways.ts';
import { MINUTE } from '../support/limits.ts';
import { startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

/** Words of libraries and of the system, which say nothing to an operator. */
const WORDS =
  /ioredis|undici|node:|sqlite|\bE[A-Z]{4,}\b|MaxRetries|timed out|Connection is closed|fetch failed|hang up|Stream isn't|\bdatabase\b|\bSyntaxError|TypeError|\[object/;

let browser: TestBrowser;
beforeAll(async () => {
  browser = await TestBrowser.start();
});
afterAll(() => browser?.stop());

const { stops, gateway: start } = gatewaysOfTests();

async function open(options: GatewayOptions) {
  const gateway = await start(options);
  const { secret, id } = await gateway.key();
  const send = () => gateway.client.get('/pets').set('X-API-Key', secret);
  const keys = () => adminOf(gateway.adminUrl)('GET', '/keys');
  // Then it has a copy of all keys, for an outage.
  await until('the keys are listed', async () => (await keys()).status === 200);
  await send();
  return { gateway, id, send };
}

const reports = async (gateway: TestGateway, type: string) =>
  (await adminOf(gateway.adminUrl)('GET', '/status')).body.health.findings.some(
    (one: { type: string }) => one.type === type,
  );

type Texts = readonly (readonly [where: string, text: string])[];

/** What every operation and command says that reads. */
async function operationsAndCommands(gateway: TestGateway, key: string): Promise<Texts> {
  const id = (await adminOf(gateway.adminUrl)('GET', '/requests?limit=1')).body.requests[0]?.id;
  const sample: Readonly<Record<string, string>> = {
    id: key,
    account: 'acme',
    plan: 'free',
    subject: key,
  };
  const texts: [where: string, text: string][] = [];
  for (const [method, template] of Object.values(ROUTES)) {
    if (method !== 'GET') continue;
    const path = template
      .replace('/requests/{id}', `/requests/${id}`)
      .replace(/\{(\w+)\}/g, (_, name: string) => sample[name]!);
    // Its schema describes webhooks, not this gateway.
    if (template === '/webhooks/schema') continue;
    const { text } = await gateway.admin.get(path);
    texts.push([path, text]);
  }
  const run = commandLine(gateway.folder);
  const url = ['--url', gateway.adminUrl];
  for (const args of [
    ['status'],
    ['backends'],
    ['top'],
    ['requests'],
    ['requests', '--key', key],
    ['keys', 'list'],
    ['keys', 'get', key],
    ['keys', 'create', '--plan', 'free', '--account', 'acme'],
    ['bans', 'list'],
    ['bans', 'history'],
    ['bans', 'add', key, '--duration', '1h', '--reason', 'x'],
    ['usage', 'get', key],
    ['usage', 'report'],
    ['usage', 'report', '--partial'],
    ['usage', 'report', '--by', 'minute', '--partial'],
    ['plans', 'list'],
    ['accounts', 'get', 'acme'],
    ['audit', 'list'],
    ['tokens', 'list'],
    ['webhooks', 'list'],
    ['config', 'diff'],
  ]) {
    const { out, err } = await run([...args, ...url]);
    texts.push([args.join(' '), out + err]);
  }
  return texts;
}

async function pagesOf(gateway: TestGateway, key: string): Promise<Texts> {
  const texts: [where: string, text: string][] = [];
  const { page, complaints } = await browser.page();
  await page.goto(`${gateway.adminUrl}/console/`);
  await page.getByRole('navigation').waitFor();
  for (const place of [
    'keys',
    `keys/${key}`,
    'keys/acme',
    'requests',
    'top-clients',
    'usage',
    'bans',
    'plans',
    'plans/free',
    'audit',
    'configuration',
    'gateways',
    'overview',
  ]) {
    // The view before must not be read.
    const title = await page.title();
    await page.evaluate(`location.hash = '#/${place}'`);
    await until('the view is there', async () => (await page.title()) !== title);
    await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' });
    texts.push([`#/${place}`, await page.locator('main').innerText()]);
  }
  expect(complaints.filter((one) => !one.includes('503'))).toEqual([]);
  await page.context().close();
  return texts;
}

function expectPlain(texts: Texts): void {
  const found = texts.flatMap(([where, text]) => {
    const lines = text.split('\n').filter((line) => WORDS.test(line));
    return lines.map((line) => `${where}: ${line.slice(0, 300)}`);
  });
  expect(found).toEqual([]);
}

/** Milliseconds: without Redis each question to other gateways takes a second and a half. */
const PATIENCE = 300_000;

describe('operations, commands and pages have no words of libraries', () => {
  test(
    'while Redis is down: each says once since when, and the history is the last known',
    async () => {
      const redis = await startRedis();
      stops.push(() => redis.stop());
      const { gateway, id, send } = await open({
        settings: 'redis: { failureThreshold: 1 }\n',
        env: { REDIS_URL: redis.url },
      });
      const history = async () =>
        (await adminOf(gateway.adminUrl)('GET', '/history?since=1h&step=1m')).body;
      gateway.clock.pass(MINUTE);
      await until('the request is in the history', async () => (await history()).steps.length > 0);
      const before = await history();
      await redis.kill();
      await until('the outage is noticed', async () => {
        await send();
        return reports(gateway, 'redis_down_local');
      });
      const during = await history();
      expect(during.steps).toEqual(before.steps);
      expect(during.isolated).toMatch(/^Redis has not answered since 20\S+Z$/);
      expectPlain(await operationsAndCommands(gateway, id));
      const pages = await pagesOf(gateway, id);
      expectPlain(pages);
      const notice = /Redis has not answered since [\d:]+; figures of this gateway alone\./g;
      const notices = pages.flatMap(([where, text]) => {
        const found = text.match(notice) ?? [];
        return found.length === 0 ? [] : [[where, found.length] as const];
      });
      expect(new Map(notices)).toEqual(
        new Map(
          [
            '#/overview',
            `#/keys/${id}`,
            '#/requests',
            '#/top-clients',
            '#/usage',
            '#/plans/free',
            '#/configuration',
            '#/gateways',
          ].map((place) => [place, 1]),
        ),
      );
    },
    PATIENCE,
  );

  test(
    'while a backend and an endpoint of webhooks are down',
    async () => {
      const [backend, endpoint] = [await freePort(), await freePort()];
      const { gateway, id, send } = await open({
        backendUrl: `http://127.0.0.1:${backend}`,
        env: {
          STOREGATE_WEBHOOK_URL: `http://127.0.0.1:${endpoint}/`,
          STOREGATE_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
        },
      });
      await adminOf(gateway.adminUrl)('POST', '/webhooks/test');
      await until('both are noticed', async () => {
        await send();
        const { endpoints } = (await adminOf(gateway.adminUrl)('GET', '/webhooks')).body;
        return endpoints[0].error !== null && reports(gateway, 'upstream_down');
      });
      expectPlain(await operationsAndCommands(gateway, id));
    },
    PATIENCE,
  );
});

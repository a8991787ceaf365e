import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ADMIN_ERRORS } from '../../src/admin/admin-error.ts';
import { ConsoleCaller } from '../support/console-caller.ts';
import { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());

describe('the reference of the admin API', () => {
  const get = (path: string) => new ConsoleCaller(gateway.adminUrl).ask('GET', path);

  test('is below the console, under the same policy as the reference for clients', async () => {
    const led = await get('/console/reference');
    expect([led.status, led.headers.location]).toEqual([308, '/console/reference/']);
    const { text, headers } = await get('/console/reference/');
    const clients = await gateway.client.get('/docs/');
    // Each names the hash of its own import map.
    const policyOf = (all: Readonly<Record<string, unknown>>) =>
      String(all['content-security-policy']).replace(/'sha256-[^']+'/, '');
    expect(policyOf(headers)).toBe(policyOf(clients.headers));
    expect(text.replace('<script type="importmap">', '')).not.toMatch(
      /<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=|(?:src|href)="(?:https?:)?\/\//,
    );
    for (const [, path] of text.matchAll(/(?:src|href)="(\/[^"]+)"/g))
      expect([path, (await get(path!)).status]).toEqual([path, 200]);
    expect((await get('/console/reference/nothing')).status).toBe(404);
  });

  test('lets readers try reads through their session, and no changes', async () => {
    const { body } = await get('/console/reference/openapi.json');
    expect(body.servers).toEqual([{ url: '/console/api' }]);
    const tried: string[] = [];
    const untried = new Set<string>();
    for (const [path, item] of Object.entries<Record<string, { 'x-try-it'?: boolean }>>(
      body.paths,
    )) {
      for (const [method, operation] of Object.entries(item)) {
        if (method === 'parameters') continue;
        if (operation['x-try-it'] === false) untried.add(method);
        else tried.push(`${method} ${path}`);
      }
    }
    expect(tried.length).toBeGreaterThan(10);
    expect(tried.filter((one) => !one.startsWith('get /'))).toEqual([]);
    expect([...untried].sort()).toEqual(['delete', 'patch', 'post', 'put']);
    expect((await get('/console/reference/openapi.yaml')).text).toContain('/console/api');
  });

  test('explains every error of the API', async () => {
    const { text } = await get('/console/reference/');
    const explained = [...text.matchAll(/id="errors-(?!title")(\w+)"/g)].map(([, code]) => code);
    expect(explained.sort()).toEqual(ADMIN_ERRORS.map(({ code }) => code).sort());
  });
});

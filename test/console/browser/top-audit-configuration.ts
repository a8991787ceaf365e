import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { inWords, whatChanged } from '../../src/console/browser/views/audit/changes.ts';
import { adminOf } from '../support/admin.ts';
import { TestBrowser } from '../support/browser.ts';
import { TestGateway } from '../support/gateway.ts';
import { Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const PLANS = 'plans:\n  free: { windows: [{ limit: 3, per: minute }] }\n';

describe('what an entry of the audit log changed', () => {
  const entry = (before: Record<string, unknown> | null, after: Record<string, unknown> | null) => {
    const changes = whatChanged(before, after);
    const rest = { number: 1, at: '', actor: 'ops', action: 'keys.update', target: 'key_1', requestId: '' };
    return [changes.map(({ name }) => name), inWords({ ...rest, before, after }, changes)];
  };
  test.each([
    ['one field', { label: 'a', plan: 'free' }, { label: 'b', plan: 'free' }, [['label'], 'label: a → b']],
    [
      'several',
      { label: null, addresses: [], scopes: ['read'] },
      { label: 'b', addresses: ['10.0.0.0/8'], scopes: [] },
      [['label', 'addresses', 'scopes'], 'label: none → b, and 2 more'],
    ],
    [
      'something new',
      null,
      { id: 'key_1', account: 'acme', plan: 'free', metadata: {} },
      [['id', 'account', 'plan'], 'new: account acme, plan free'],
    ],
    ['something that is gone', { name: 'ci', role: 'read' }, null, [['name', 'role'], 'gone']],
    ['nothing', { a: { b: 1 } }, { a: { b: 1 } }, [[], 'nothing that is told']],
  ])('%s', (_name, before, after, expected) => {
    expect(entry(before, after)).toEqual(expected);
  });
});

describe('the console', () => {
  let browser: TestBrowser;
  let gateway: TestGateway;
  let receiver: Receiver;
  let page: Page;
  let complaints: string[];
  beforeAll(async () => {
    receiver = await Receiver.start();
    const settings = '# Ours.\nlog: { requests: false }\n';
    gateway = await TestGateway.start({ plans: PLANS, settings, env: receiver.env });
    browser = await TestBrowser.start();
    ({ page, complaints } = await browser.page());
  });
  afterAll(async () => {
    await browser?.stop();
    await gateway?.stop();
    await receiver?.stop();
  });

  const open = (hash: string) => page.goto(`${gateway.adminUrl}/console/#/${hash}`);
  const admin: ReturnType<typeof adminOf> = (...call) => adminOf(gateway.adminUrl)(...call);

  test('shows who sends and is refused most, with links to them', async () => {
    const busy = await gateway.key();
    const calm = await gateway.key({ account: 'globex' });
    for (let i = 0; i < 5; i++) await gateway.client.get('/pets').set('X-API-Key', busy.secret);
    await gateway.client.get('/pets').set('X-API-Key', calm.secret);
    await until('all are counted', async () => (await admin('GET', '/top')).body.total === 6);

    await open('top');
    await page.getByText('6 requests with a valid key in the last hour').waitFor();
    const rows = page.getByRole('region', { name: 'Who came most often' }).getByRole('row');
    expect(await rows.allInnerTexts()).toEqual([
      expect.stringMatching(/^Key\s+Count\s+Of all\s+Account/),
      expect.stringMatching(new RegExp(`^${busy.id}\\s+5\\s+83 %\\s+acme\\s+free`)),
      expect.stringMatching(new RegExp(`^${calm.id}\\s+1\\s+17 %\\s+globex\\s+free`)),
    ]);
    expect(await rows.nth(1).getByRole('link', { name: busy.id }).getAttribute('href')).toBe(`#/who/${busy.id}`);
    await page.getByRole('combobox', { name: 'By', exact: true }).selectOption({ label: 'Refusals by operation' });
    await page.getByRole('rowheader', { name: 'listPets' }).waitFor();
    await page.getByRole('combobox', { name: 'In the', exact: true }).selectOption({ label: 'Last minute' });
    await page.getByText('2 refused requests in the last minute').waitFor();
    expect(page.url()).toMatch(/#\/top\?window=minute&by=operations$/);
    await page.getByRole('combobox', { name: 'By', exact: true }).selectOption({ label: 'Deprecated operations' });
    await page.getByText('No calls of deprecated operations in the last minute.').waitFor();
  });

  test('lists what people changed, with filters and pages', async () => {
    const { body } = await admin('POST', '/keys', { account: 'umbrella', plan: 'free' });
    await admin('PATCH', `/keys/${body.id}`, { label: 'web shop' });
    for (let i = 0; i < 50; i++) await admin('POST', `/keys/${body.id}/${i % 2 === 0 ? 'disable' : 'enable'}`);
    await open(`audit?target=${body.id}`);
    const rows = page.getByRole('region', { name: 'Entries of the audit log' }).getByRole('row');
    await rows.nth(50).waitFor();
    expect(await rows.count()).toBe(51);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('label: none → web shop').waitFor();
    expect(await rows.count()).toBe(3);
    await page.getByText('new: account umbrella, plan free').click();
    await page.getByText('Request').last().waitFor();
    await page.getByLabel('Action').fill('keys.update');
    await page.getByRole('button', { name: 'Filter' }).click();
    await until('one is left', async () => (await rows.count()) === 2);
    expect(await rows.nth(1).getByRole('link', { name: body.id }).getAttribute('href')).toBe(`#/who/${body.id}`);
    await page.getByLabel('Who did it').fill('nobody');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No entry fits.').waitFor();
  });

  test('shows each setting and its source, and finds it', async () => {
    await open('configuration');
    await page.getByLabel('Only settings with').fill('log.requests');
    const row = page.getByRole('row', { name: /^log\.requests/ });
    expect(await row.innerText()).toMatch(/false\s+gateway\.yaml:2:\d+\s+a (reload|restart)/);
    await page.getByText('The files say what is in force.').waitFor();
    await page.getByLabel('Only settings with').fill('no such setting');
    await page.getByText('No setting has that.').waitFor();
  });

  test('shows who is told of events, and whether they arrive', async () => {
    await admin('POST', '/webhooks/test');
    await open('configuration');
    const row = page.getByRole('region', { name: 'Receivers of webhooks' }).getByRole('row').nth(1);
    await row.getByText('well').waitFor();
    expect(await row.innerText()).toMatch(
      /^127\.0\.0\.1:\d+ [0-9a-f]{12}\s+well\s+0\s+0\s+\S.*ban\.begun, quota\.reached/s,
    );
    expect(await page.content()).not.toContain('s3cr3t-path');
    receiver.answer = () => ({ status: 500 });
    await admin('POST', '/keys', { account: 'told', plan: 'free' });
    await row.getByText('failing').waitFor();
    expect(await row.innerText()).toContain('HTTP 500');
  });

  test('tells what the files say, every mistake in them, and reloads', async () => {
    const file = join(gateway.folder, 'gateway.yaml');
    const text = readFileSync(file, 'utf8');
    await open('configuration');
    await page.getByText('The files say what is in force.').waitFor();
    writeFileSync(file, `${text}door: { maxBodyBytes: much }\nexplain: { requests: none }\n`);
    await page.getByRole('button', { name: 'Read the files again' }).click();
    const mistakes = page.getByRole('alert');
    await mistakes.filter({ hasText: 'door.maxBodyBytes' }).filter({ hasText: 'explain.requests' }).waitFor();
    expect(await page.getByRole('button', { name: 'Reload …' }).count()).toBe(0);

    // The gateway notices changed files by itself; what needs a restart stays different.
    writeFileSync(file, `${text}door: { maxConnections: 5000 }\n`);
    await page.getByRole('button', { name: 'Read the files again' }).click();
    const row = page
      .getByRole('region', { name: 'What the files say' })
      .getByRole('row', { name: /door\.maxConnections/ });
    expect(await row.innerText()).toMatch(/10000\s+5000\s+gateway\.yaml:3:\d+\s+a restart$/);
    await page.getByRole('button', { name: 'Reload …' }).click();
    await page.getByRole('dialog').getByText('Only after a restart:').waitFor();
    await page.getByRole('button', { name: 'Reload', exact: true }).click();
    await page.getByRole('dialog').getByText('Nothing has changed.').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Reload …' }).waitFor();
    expect((await admin('GET', '/audit?action=config.reload')).body.entries).toHaveLength(1);
    expect(complaints.filter((complaint) => !/status of 4\d\d/.test(complaint))).toEqual([]);
  });
});

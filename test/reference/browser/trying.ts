import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { ReferenceFixture } from './fixture.ts';

export function tryingTests(fixture: ReferenceFixture): void {
  describe('a reader with a key', () => {
    test('tries an operation and sees the response with its limit headers', async () => {
      const it = await fixture.load(fixture.brief);
      await fixture.useKey('free');
      const operation = await it.openOperation('Animals', 'listPets');
      await it.tryIt(operation);
      const limits = await it.send(operation);
      expect(limits).toMatch(/X-RateLimit-Limit\s*60/);
      expect(limits).toMatch(/X-RateLimit-Remaining\s*59/);
      expect(limits).toMatch(/X-RateLimit-Reset\s*\d{10}/);
      expect(limits).toContain('999 of 1,000 left per day');
      expect(await operation.locator('.answer').textContent()).toContain('"name": "Minka"');
      expect(fixture.complaints).toEqual([]);
    });

    test('tries until the 429 arrives, sees how long to wait, and all headers as received', async () => {
      const { reader: it } = fixture;
      await fixture.useKey('tiny');
      const operation = await it.openOperation('Categories', 'listCategories');
      await it.tryIt(operation);
      for (const [status, said] of [
        [200, /Remaining\s*2/],
        [200, /Remaining\s*1/],
        [200, /Remaining\s*0/],
        [429, /Over the limit: wait \d+ seconds[\s\S]*Retry-After\s*\d+/],
      ] as const) {
        const answered = it.page.waitForResponse('**/categories');
        expect(await it.send(operation)).toMatch(said);
        const response = await answered;
        expect(response.status()).toBe(status);
        const lines = (await operation.locator('.headers').textContent())!.split('\n');
        expect(lines.toSorted()).toEqual(
          Object.entries(await response.allHeaders())
            .map(([name, value]) => `${name}: ${value}`)
            .sort(),
        );
        expect(lines.join()).toMatch(/date: \w{3}, \d\d \w{3} \d{4} /);
      }
      expect(await operation.locator('.answer').textContent()).toContain('rate_limit_exceeded');
    });

    test('sends and sees identifiers beyond 2^53 with every digit', async () => {
      const { reader: it } = fixture;
      const operation = await it.openOperation('Orders', 'createOrder');
      await it.tryIt(operation);
      let sent: string | null = null;
      await it.page.route('**/store/orders', (route) => {
        sent = route.request().postData();
        return route.fulfill({
          status: 201,
          contentType: 'application/json',
          headers: { 'X-Request-Id': 'exact', 'X-RateLimit-Limit': '60', 'X-RateLimit-Reset': '1' },
          body: '{"id":9223372036854775807,"petId":1}',
        });
      });
      await operation.getByLabel('Request body').fill('{"id":9223372036854775807,"petId":1}');
      await it.send(operation);
      expect(sent).toContain('"id":9223372036854775807');
      expect(await operation.locator('.answer').textContent()).toContain(
        '"id": 9223372036854775807',
      );
      await it.page.unrouteAll();
    });

    test('finds the key in no URL, no shown command and no storage that outlives the tab', async () => {
      const { reader: it } = fixture;
      const { page } = it;
      const secret = await fixture.useKey('free');
      const addresses: string[] = [];
      page.on('request', (request) => void addresses.push(request.url()));
      const operation = await it.openOperation('Inventory', 'getInventory');
      await it.tryIt(operation);
      await it.send(operation);
      expect(await operation.locator('.snippets pre').textContent()).toContain(
        'X-API-Key: YOUR_KEY',
      );
      expect([page.url(), ...addresses].filter((address) => address.includes(secret))).toEqual([]);
      expect(await page.content()).not.toContain(secret);
      expect(await page.evaluate('JSON.stringify(localStorage)')).toBe('{}');
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).toContain(secret);
    });

    test('is remembered on the device on request, and forgotten everywhere on request', async () => {
      const { page } = fixture.reader;
      const secret = await fixture.useKey('free');
      await page.getByLabel('Remember it on this device').check();
      await fixture.reader.useKey(secret);
      expect(await page.evaluate('JSON.stringify(localStorage)')).toContain(secret);
      await page.reload();
      await page.getByRole('button', { name: 'Forget it' }).click();
      expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).toBe('[{},{}]');
    });

    describe('in the field for the key', () => {
      let page: Page;
      let secret: string;
      beforeAll(async () => {
        ({ page } = fixture.reader);
        await page.getByLabel('Remember it on this device').uncheck();
        secret = await fixture.useKey('free');
      });

      test('is not interrupted while typing a key, until it is complete', async () => {
        const note = page.locator('#key-note');
        const before = await note.textContent();
        await page.getByLabel('Your API key').pressSequentially(secret.slice(0, -1));
        expect(await note.textContent()).toBe(before);
        await page.getByLabel('Your API key').pressSequentially(secret.slice(-1));
        expect(await note.textContent()).toBe('This has the form of a key.');
      });

      test('is notified if the pasted text cannot be a key, and keeps the previous one', async () => {
        await page.getByLabel('Your API key').fill('no key at all');
        expect(await page.locator('#key-note').textContent()).toContain('not a key');
        await page.getByRole('button', { name: 'Use this key' }).click();
        expect(await page.locator('#key-note').textContent()).toContain('not a key');
        expect(await page.evaluate('JSON.stringify(sessionStorage)')).toContain(secret);
      });

      test('is notified at once whether the pasted text has the form of a key, and may use a key of another system', async () => {
        const field = page.getByLabel('Your API key');
        const note = async () => (await page.locator('#key-note').textContent())!;
        await field.fill(secret);
        expect(await note()).toBe('This has the form of a key.');
        for (const damaged of [
          secret.slice(0, -1),
          secret.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
          'sg_test',
        ]) {
          await field.fill(damaged);
          expect(await note()).toContain('missing or mistyped');
        }
        await field.fill('sk_live_51H8xYz');
        expect(await note()).toContain('another system');
        await page.getByRole('button', { name: 'Use this key' }).click();
        expect(await note()).toMatch(
          /^Your key is kept until you close this tab\..*another system/,
        );
        expect(await page.evaluate('JSON.stringify(sessionStorage)')).toContain('sk_live_51H8xYz');
      });
    });
  });
}

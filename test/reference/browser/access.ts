import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import type { Reader } from '../../support/reader.ts';
import type { ReferenceFixture } from './fixture.ts';

const PET_ID = '[data-name=petId] input';
const FORMS = ['.operation form', '.limit-state', '#announcement'];
const ANSWERS = ['.answer', '.failure', '#announcement'];

export function accessTests(fixture: ReferenceFixture): void {
  describe('a reader meets no serious barrier, on a screen and on a phone, in light and in dark mode', () => {
    let it: Reader;
    let pets: Locator;
    let pet: Locator;
    let order: Locator;
    let categories: Locator;
    beforeAll(async () => {
      it = await fixture.load(fixture.brief, '#/Animals/getPet');
      await fixture.useKey('single');
    });

    test('and follows a deprecated operation, the target of the URL, to its successor', async () => {
      const notice = it.operation('Animals', 'getPet').locator('.deprecation');
      expect(await notice.textContent()).toMatch(/1 October 2026.*Served until 1 October 2027/);
      await notice.getByRole('link', { name: /List pets/ }).click();
      await it.operation('Animals', 'listPets').locator('.details').waitFor();
      await it.page.waitForURL(/#\/Animals\/listPets$/);
    });

    test('in operations that are open', async () => {
      pets = await it.openOperation('Animals', 'listPets');
      pet = await it.openOperation('Animals', 'getPet');
      order = await it.openOperation('Orders', 'createOrder');
      await it.openOperation('Orders', 'listOrders');
      expect(await it.accessibilityFindings('.operation[open]')).toEqual([]);
    });

    test('in forms, in an incomplete one, and in a refusal', async () => {
      categories = await it.openOperation('Categories', 'listCategories');
      await it.tryIt(categories);
      await it.send(categories);
      expect(await it.send(categories)).toContain('Over the limit');
      await it.tryIt(order);
      await it.tryIt(pets);
      await it.tryIt(pet);
      await pet.locator(PET_ID).fill('');
      await pet.locator('.execute').click();
      await pet.locator(`${PET_ID}:invalid:focus`).waitFor();
      expect(await it.accessibilityFindings(FORMS.join())).toEqual([]);
      expect(await categories.locator('.limit-state.refused').count()).toBe(1);
    });

    test('in a response, in an error, and without a response', async () => {
      await fixture.useKey('free');
      await it.send(pets);
      await pet.locator(PET_ID).fill('4711');
      await it.send(pet);
      expect(await pet.locator('.answer').textContent()).toContain('404');
      await it.page.route('**/categories', (route) => route.abort());
      await categories.locator('.execute').click();
      await it.page.getByText('No response: ').waitFor();
      expect(await it.accessibilityFindings(ANSWERS.join())).toEqual([]);
      expect(await it.page.locator('.answer').count()).toBe(2);
      await it.page.unrouteAll();
    });
  });
}

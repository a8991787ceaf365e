import { describe, expect, test } from '@jest/globals';
import { html, withCode } from '../../packages/pages/src/html.ts';
import { errorsSection } from '../../packages/reference/src/page/error-table.ts';
import { limitsSection } from '../../packages/reference/src/page/limits.ts';
import { duration } from '../../packages/reference/src/page/words.ts';
import { CATALOGUE } from '../../src/errors/refusals.ts';
import type { Ladder, Window } from '../../src/limits/limits.ts';
import type { Plan, Plans } from '../../src/limits/plans.ts';

const minute: Window = { name: 'minute', kind: 'fixed', limit: 60, span: 60_000 };
const day: Window = { name: 'day', kind: 'sliding', limit: 100_000, span: 86_400_000 };
const ladder: Ladder = { strikes: 10, within: 60_000, grace: 100, lengths: [60_000, 7_200_000], forget: 86_400_000 };

function limits(plans: readonly Partial<Plan>[], banned: Ladder | null = ladder): string {
  const byName = plans.map((plan) => ({ name: 'free', count: 'key' as const, windows: [minute], ...plan }));
  const all: Plans = {
    plans: new Map(byName.map((plan) => [plan.name, plan])),
    ladder: banned,
    accounts: new Map([['secret-customer', [minute]]]),
  };
  return limitsSection(all)
    .text.replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
}

describe('markup', () => {
  test('escapes every value that is not markup itself', () => {
    expect(html`<p title="${'"<&\'>'}">${html`<b>${'<i>'}</b>`}${null}${7}</p>`.text).toBe(
      '<p title="&#34;&#60;&#38;&#39;&#62;"><b>&#60;i&#62;</b>7</p>',
    );
  });

  test('marks what stands in backticks as code', () => {
    const marked = withCode('Wait for `<Retry-After>`.').map(({ text }) => text);
    expect(marked.join('')).toBe('Wait for <code>&#60;Retry-After&#62;</code>.');
  });
});

describe('the limits on the page', () => {
  test('have a column for each span, the shortest first', () => {
    const text = limits([{ name: 'pro', windows: [day] }, { windows: [minute, day] }]);
    expect(text).toContain('Plan per minute per day');
    expect(text).toContain('Pro no limit 100,000 (sliding)');
    expect(text).toContain('Free 60 100,000 (sliding)');
  });

  test('say that a custom plan is agreed, and which plans count accounts', () => {
    expect(limits([{ name: 'enterprise', windows: null }])).toContain('Enterprise custom, agreed for each key');
    expect(limits([{ count: 'account' }])).toContain('Free shared by all keys of an account');
  });

  test('say how many requests a plan allows at once, where it says so', () => {
    expect(limits([{ concurrency: 20 }])).toContain('Free at most 20 at once');
    expect(limits([{}])).not.toContain('Free at most');
  });

  test('tell how bans come about and grow, or that there are none', () => {
    expect(limits([{}])).toContain('10 times within 1 minute, is banned for 1 minute, the next times for 2 hours.');
    expect(limits([{}], null)).toContain('never banned');
  });

  test('name what operations and tags have beside the plans', () => {
    const plans: Plans = { plans: new Map(), ladder, accounts: new Map() };
    const scoped = [
      { ...minute, limit: 5, scope: 'login' },
      { ...day, scope: 'tag:to%20find' },
    ];
    const text = limitsSection(plans, scoped)
      .text.replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ');
    expect(text).toContain('some operations have limits of their own');
    expect(text).toContain(' login : 5 per minute All operations of to find together: 100,000 (sliding) per day ');
    expect(limits([{}])).not.toContain('of their own');
  });

  test('tell nobody what was agreed with a single account', () => {
    expect(limits([{}])).not.toContain('secret-customer');
  });

  test.each([
    [1, '1 millisecond'],
    [90_000, '90 seconds'],
    [300_000, '5 minutes'],
    [86_400_000, '24 hours'],
    [172_800_000, '2 days'],
  ])('name a span of %d ms: %s', (span, text) => {
    expect(duration(span)).toBe(text);
  });
});

test('the page has an entry for every error code, and what to do', () => {
  const { text } = errorsSection();
  for (const code of Object.keys(CATALOGUE)) expect(text).toContain(`id="error-${code}"`);
  expect(text).toContain('back off exponentially');
});

import { describe, expect, test } from '@jest/globals';
import {
  type BanRules,
  duration,
  limitsSection,
  type Plan,
  type Window,
} from '../src/page/limits.ts';
import { errorsSection } from '../src/page/reference-page.ts';

const minute: Window = { name: 'minute', kind: 'fixed', limit: 60, span: 60_000 };
const day: Window = { name: 'day', kind: 'sliding', limit: 100_000, span: 86_400_000 };
const bans: BanRules = {
  strikes: 10,
  workers: 200,
  minWorkers: 20,
  window: 60_000,
  durations: [60_000, 7_200_000],
  decay: 86_400_000,
};

const textOf = ({ text }: { readonly text: string }) =>
  text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

function limits(plans: readonly Partial<Plan>[], banned: BanRules | null = bans): string {
  const all = plans.map((plan) => ({
    name: 'free',
    count: 'key' as const,
    windows: [minute],
    ...plan,
  }));
  return textOf(limitsSection({ plans: all, bans: banned, scoped: [] }));
}

describe('the limits on the page', () => {
  test('have a column for each span, the shortest first', () => {
    const text = limits([{ name: 'pro', windows: [day] }, { windows: [minute, day] }]);
    expect(text).toContain('Plan per minute per day');
    expect(text).toContain('Pro no limit 100,000 (sliding)');
    expect(text).toContain('Free 60 100,000 (sliding)');
  });

  test('show a window of this API beside that of all', () => {
    const text = limits([{ windows: [minute, { ...minute, limit: 9, scope: '@notes' }] }]);
    expect(text).toContain('Plan per minute Free 60, 9 in this API');
  });

  test('name the time zone of a calendar window', () => {
    const month = { name: 'month', kind: 'calendar', limit: 9, span: 31 * 86_400_000 };
    const text = limits([{ windows: [{ ...month, zone: 'Europe/Berlin' }] }]);
    expect(text).toContain('Plan per month');
    expect(text).toContain('Free 9 (calendar, Europe/Berlin)');
  });

  test('say that a custom plan is agreed, and which plans count accounts', () => {
    expect(limits([{ name: 'enterprise', windows: null }])).toContain(
      'Enterprise custom, agreed for each key',
    );
    expect(limits([{ count: 'account' }])).toContain('Free shared by all keys of an account');
  });

  test('say how many requests a plan allows at once, where it says so', () => {
    expect(limits([{ concurrency: 20 }])).toContain('Free at most 20 at once');
    expect(limits([{}])).not.toContain('Free at most');
  });

  test('describe how bans begin and grow, or that clients are never banned', () => {
    expect(limits([{}])).toContain(
      '10 times within 1 minute, is banned for 1 minute, the next times for 2 hours.',
    );
    expect(limits([{}], null)).toContain('never banned');
  });

  test('say how many workers may share a key', () => {
    expect(limits([{}])).toContain(
      'also if as many workers as its limit has requests (at least 20, at most 200) share its key',
    );
    expect(limits([{}], { ...bans, minWorkers: 200 })).toContain('also if up to 200 workers share');
    expect(limits([{ workers: 30 }])).toContain('Free 30 workers may share a key');
  });

  test('name what operations and tags have beside the plans', () => {
    const scoped = [
      { kind: 'operation' as const, name: 'login', window: { ...minute, limit: 5 } },
      { kind: 'tag' as const, name: 'to find', window: day },
    ];
    const text = textOf(limitsSection({ plans: [], bans, scoped }));
    expect(text).toContain('some operations have limits of their own');
    expect(text).toContain(
      ' login : 5 per minute All operations of to find together: 100,000 (sliding) per day ',
    );
    expect(limits([{}])).not.toContain('of their own');
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

test('the page has an entry for each error code, and what to do', () => {
  const errors = [
    {
      code: 'key_expired',
      status: 401,
      title: 'This API key has expired.',
      advice: 'Ask for a new key.',
    },
    {
      code: 'rate_limit_exceeded',
      status: 429,
      title: 'The rate limit is reached.',
      advice: 'Wait for `Retry-After`.',
    },
  ];
  const { text } = errorsSection(errors);
  for (const { code } of errors) expect(text).toContain(`id="errors-${code}"`);
  expect(text).toContain('Wait for <code>Retry-After</code>.');
});

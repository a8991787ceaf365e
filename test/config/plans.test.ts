import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/load.ts';
import { escalationIn } from '../../src/limits/plans.ts';
import { loadPlans } from '../support/load-plans.ts';
import { folderWith } from './folder.ts';
import { mistakesOf } from './mistakes.ts';

function plansFrom(content: string) {
  return loadPlans('plans.yaml', folderWith({ 'plans.yaml': content }));
}

describe('a plan', () => {
  test('counts each key separately unless it counts by account', () => {
    const { plans } = plansFrom(`
plans:
  alone: { windows: [{ limit: 1, per: day }] }
  together: { count: account, windows: [{ limit: 1, per: day }] }
`);
    expect([...plans.values()].map(({ name, count }) => [name, count])).toEqual([
      ['alone', 'key'],
      ['together', 'account'],
    ]);
  });

  test('with custom limits has no windows, which does not mean unlimited', () => {
    expect(plansFrom('plans: { big: { custom: true, count: account } }').plans.get('big')).toEqual({
      name: 'big',
      count: 'account',
      windows: null,
    });
  });
});

describe('windows of an API', () => {
  const APIS = 'apis: [{ name: notes, path: /n, contract: none, upstream: { url: http://a } }]';
  const plans = (
    api: string,
  ) => `plans: { free: { windows: [{ limit: 1, per: day, api: ${api} }] } }
accounts: { acme: { windows: [{ limit: 1, per: day }, { limit: 1, per: day, api: ${api} }] } }
public: { windows: [{ limit: 1, per: day, api: ${api} }] }`;
  const load = (gateway: string, api: string) => {
    const cwd = folderWith({ 'gateway.yaml': gateway, 'plans.yaml': plans(api) });
    return loadConfig({ cwd, env: { STOREGATE_PLANS: 'plans.yaml' } }).plans;
  };
  const placesOf = (message: string) => [
    `plans.yaml:1:55 plans.free.windows[0].api: ${message}`,
    `plans.yaml:2:82 accounts.acme.windows[1].api: ${message}`,
    `plans.yaml:3:48 public.windows[0].api: ${message}`,
  ];

  test.each([
    [APIS, 'notes', ['notes']],
    [`${APIS}\nupstream: { url: http://b }`, 'notes', ['default', 'notes']],
    [`${APIS}\nupstream: { url: http://b }`, 'default', ['default', 'notes']],
  ])('may name one of %j: %s', (gateway, api, apis) => {
    const loaded = load(gateway, api);
    const window = { name: 'day', kind: 'fixed', limit: 1, span: 86_400_000 };
    const scope = `@${api}`;
    expect(loaded.apis).toEqual(apis);
    expect(loaded.plans.get('free')?.windows).toEqual([{ ...window, scope }]);
    expect(loaded.accounts.get('acme')).toEqual([window, { ...window, scope }]);
    expect(loaded.publicPlan?.windows).toEqual([{ ...window, scope }]);
  });

  test.each([
    ['{}', 'default', 'must be absent, because gateway.yaml has one API alone, is "default"'],
    [APIS, 'note', 'must be the name of an API: notes, is "note"'],
    [APIS, 'default', 'must be the name of an API: notes, is "default"'],
    [
      `${APIS}\ncontract: { file: none }`,
      'files',
      'must be the name of an API: default, notes, is "files"',
    ],
  ])('of %j must not name %s', (gateway, api, message) => {
    expect(mistakesOf(() => load(gateway, api))).toEqual(placesOf(message));
  });

  test('are not a mistake while the APIs have one', () => {
    expect(mistakesOf(() => load(`${APIS.replace('/n', 'n')}`, 'files'))).toEqual([
      expect.stringMatching(/^gateway\.yaml:1:\d+ apis\[0\]\.path: must be/),
    ]);
  });
});

test('an account may have its own limits, by any name a key can have', () => {
  const { accounts } = plansFrom(`
plans: { free: { custom: true } }
accounts:
  acme: { windows: [{ limit: 5, per: hour }] }
  42: { windows: [{ limit: 6, per: hour }] }
  shop@example.com: { windows: [{ limit: 7, per: hour }] }
`);
  expect([...accounts].map(([name, windows]) => [name, windows[0]?.limit])).toEqual([
    ['42', 6],
    ['acme', 5],
    ['shop@example.com', 7],
  ]);
});

describe('the ban escalation', () => {
  test('is read in milliseconds; equal durations are not falling', () => {
    const { escalation } = plansFrom(`
plans: { free: { custom: true } }
bans: { strikes: 3, window: 10s, workers: 5, grace: 0ms, durations: [60s, 1m, 2m], decay: 2d }
`);
    expect(escalation).toEqual({
      strikes: 3,
      window: 10_000,
      workers: 5,
      minWorkers: 5,
      grace: 0,
      durations: [60_000, 60_000, 120_000],
      decay: 172_800_000,
    });
  });

  test('lets 20 workers share a limit of few units, if so many may share any', () => {
    const minOf = (bans: string) =>
      plansFrom(`plans: { free: { custom: true } }\nbans: ${bans}\n`).escalation!.minWorkers;
    expect([minOf('{}'), minOf('{ workers: 21 }'), minOf('{ workers: 19 }')]).toEqual([20, 20, 19]);
  });

  test('has the workers of a plan in place of the number that its limits give', () => {
    const plans = plansFrom(
      'plans: { free: { custom: true }, large: { custom: true, workers: 500 } }\n',
    );
    const ofPlan = (name: string) => escalationIn(plans.plans.get(name), plans);
    expect(ofPlan('free')).toBe(plans.escalation);
    expect(ofPlan('large')).toEqual({ ...plans.escalation, workers: 500, minWorkers: 500 });
    expect(escalationIn(plans.plans.get('large'), { escalation: null })).toBeNull();
  });

  test.each(['off', '"off"'])('is off if bans are %s', (off) => {
    expect(plansFrom(`plans: { free: { custom: true } }\nbans: ${off}\n`).escalation).toBeNull();
  });

  test('is off under YAML 1.1 too, where the word is a boolean', () => {
    expect(
      plansFrom('%YAML 1.1\n---\nplans: { free: { custom: true } }\nbans: off\n').escalation,
    ).toBeNull();
  });
});

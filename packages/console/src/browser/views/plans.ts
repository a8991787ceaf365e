import type {
  BanEscalation,
  History as HistoryResponse,
  Plan,
} from '@storegate/admin-api';
import {
  addressesText,
  excessesText,
  freeRefusalsText,
  inFlight,
  limitsText,
  number,
  plural,
} from '@storegate/admin-api/text';
import { h } from 'preact';
import { useQuery } from '../api/hooks.ts';
import { total } from '../format.ts';
import { Chart } from '../parts/chart.ts';
import { Facts, planColumn, rowHeader, Table } from '../parts/data.ts';
import type { Series } from '../parts/series.ts';
import { Notice, queryView, View } from '../parts/view.ts';
import { goTo, linkTo, type Place } from '../routing.ts';
import { useMay } from '../session.ts';
import { Simulation } from './plans/simulation.ts';

/** `storegate plans`: all plans, one plan with a simulation, or a new plan. */
export function Plans({ place: { rest, query } }: { place: Place }) {
  if (useMay('admin') && query.new) return h(NewPlan, null);
  return rest === '' ? h(AllPlans, null) : h(OnePlan, { name: rest });
}

function AllPlans() {
  const query = useQuery('listPlans');
  return h(
    View,
    {
      title: 'Plans',
      about: 'Plans, their limits and their keys',
      actions:
        useMay('admin') &&
        h(
          'a',
          { class: 'button', href: linkTo('plans', '', { new: 'plan' }) },
          'New plan',
        ),
    },
    queryView(query, ({ plans, public: open, bans }) => [
      h(Table<Plan>, {
        caption: 'Plans in force',
        rows: plans,
        keyOf: ({ name }) => name,
        empty: 'No plans.',
        columns: [
          rowHeader(planColumn('Plan', 'name')),
          [
            'Limits',
            ({ limits }) =>
              limits ? limitsText(limits) : 'of each key or account',
          ],
          ['Counts', ({ count }) => countText(count)],
          [
            'Keys',
            ({ keys, name }) =>
              keysLink(name, keys === null ? 'unknown' : number(keys)),
            'figure',
          ],
        ],
      }),
      h('h2', null, 'Public'),
      h(Public, { plan: open[0] }),
      h('h2', null, 'Bans'),
      h(Bans, { escalation: bans }),
    ]),
  );
}

const countText = (count: Plan['count']) =>
  count === 'account' ? 'all keys of an account together' : 'each key';

/** The limits of requests without a key. Only the plans file changes them. */
function Public({ plan }: { plan: Plan | undefined }) {
  if (!plan) return h('p', { class: 'empty' }, 'Public limits are off.');
  return h(Facts, {
    facts: [
      ['Limits', limitsText(plan.limits ?? '')],
      ['Counts', 'requests without a key, per client address'],
      ['In flight', inFlight(plan)],
    ],
  });
}

const keysLink = (plan: string, text: string) =>
  h('a', { href: linkTo('keys', '', { plan }) }, text);

/** How keys that keep sending after refusals are banned. It is the same for all plans. */
function Bans({ escalation: bans }: { escalation: BanEscalation | null }) {
  if (bans === null)
    return h('p', { class: 'empty' }, 'Automatic bans are off.');
  const { strikes, window, grace, durations, decay } = bans;
  return h(Facts, {
    facts: [
      [
        'Banned after',
        `${plural(strikes, 'strike')} within ${window}, on every plan`,
      ],
      [
        'A strike',
        `a refusal before Retry-After, after ${freeRefusalsText(bans)} by the same limit`,
      ],
      ['Not counted', `refusals within ${grace} of the first`],
      ['Duration', `${durations.join(', then ')}; the last repeats`],
      ['Forgotten', `one level lower per ${decay} without a strike`],
    ],
  });
}

/** One plan: what it is, what another one would do, and its requests. */
function OnePlan({ name }: { name: string }) {
  const query = useQuery('getPlan', { params: { plan: name } });
  return h(
    View,
    {
      title: `Plan ${name}`,
      about: h('a', { href: linkTo('plans') }, 'All plans'),
    },
    [
      queryView(query, (plan) => [
        h(Facts, {
          facts: [
            [
              'Limits',
              plan.limits ? limitsText(plan.limits) : 'set per key or account',
            ],
            ['Counts', countText(plan.count)],
            ['In flight', inFlight(plan)],
            ['Weight', `${plan.weight}, if the backend is busy`],
            ['Workers per key', plan.workers ?? 'by the limits'],
            ['Used', addressesText(plan.addresses)],
            [
              'Keys',
              keysLink(
                name,
                plan.keys === null
                  ? 'unknown while the state is down'
                  : plural(plan.keys, 'key'),
              ),
            ],
          ],
        }),
        excessesText(plan).map((sentence) =>
          h(Notice, { tone: 'warn' }, sentence),
        ),
        h('h2', null, 'Simulate other limits'),
        // The simulation belongs to the plan as it was: another plan starts with a new one.
        h(Simulation, {
          key: `${plan.limits} ${plan.count} ${plan.concurrency} ${plan.weight} ${plan.workers} ${addressesText(plan.addresses)}`,
          plan,
          onPut: query.refresh,
        }),
        h('h2', null, 'Requests in the last day'),
        h(PlanHistory, { plan: name }),
      ]),
    ],
  );
}

function NewPlan() {
  const query = useQuery('listPlans');
  return h(
    View,
    {
      title: 'New plan',
      about: h('a', { href: linkTo('plans') }, 'All plans'),
    },
    [
      queryView(query, ({ plans }) =>
        h(Simulation, {
          plan: null,
          taken: plans.map(({ name }) => name),
          onPut: async (name) => goTo(linkTo('plans', name), { replace: true }),
        }),
      ),
    ],
  );
}

const STEP = 1_800_000;
const STEPS = 48;

/** How many requests of a plan limits admitted and refused, each half hour. */
function PlanHistory({ plan }: { plan: string }) {
  const query = useQuery('getHistory', {
    params: { plan, since: '24h', step: '10m' },
    every: 60_000,
  });
  return queryView(query, ({ steps }) => h(Steps, { steps }));
}

function Steps({ steps }: Pick<HistoryResponse, 'steps'>) {
  const byDay = Map.groupBy(steps, ({ at }) => startOf(Date.parse(at)));
  // The clock of the gateway may be ahead of that of the reader.
  const last = Math.max(startOf(Date.now()), ...byDay.keys());
  const starts = Array.from(
    { length: STEPS },
    (_, i) => last - (STEPS - 1 - i) * STEP,
  );
  const series = (
    name: 'admitted' | 'limited' | 'banned',
    sign: Series['sign'],
  ): Series => {
    // Where no gateway ran nothing is known.
    const inside = starts.map((start) => byDay.get(start));
    return {
      name,
      sign,
      values: inside.map((some) =>
        some ? total(some, (step) => step[name]) : null,
      ),
    };
  };
  return h(Chart, {
    title: 'Requests of this plan per half hour',
    starts,
    grain: 'minute',
    series: [
      series('admitted', 'answered'),
      series('limited', 'limited'),
      series('banned', 'banned'),
    ],
    kind: 'bars',
    format: number,
  });
}

const startOf = (time: number) => Math.floor(time / STEP) * STEP;

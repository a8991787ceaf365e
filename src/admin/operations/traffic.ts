import { setImmediate } from 'node:timers/promises';
import type { Operations } from '@storegate/admin-api';
import { latencyOf } from '@storegate/admin-api/text';
import { DAY, HOUR, MINUTE } from '../../common/time.ts';
import { parseDuration } from '../../config/units.ts';
import { startOf } from '../../ledger/names.ts';
import { joinOutages, type StateOutage } from '../../ledger/outages.ts';
import {
  createRanking,
  type Ranked,
  type RankedItem,
} from '../../ledger/ranking.ts';
import { readLedger } from '../../ledger/read.ts';
import { addTraffic, type TrafficFilter } from '../../ledger/traffic.ts';
import { type Head, POLICIES } from '../../ledger/value.ts';
import {
  COLUMNS,
  durationsIn,
  outcomesIn,
  requestsIn,
  statusesIn,
} from '../../observe/traffic/row.ts';
import { AdminError } from '../admin-error.ts';
import type { AdminOperations } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { ofApi, refuseUnknownFilters } from '../filters.ts';
import { coverageView } from '../ledger.ts';
import { time } from '../view.ts';

type Query = Operations['getHistory']['query'];

const STEPS = { '1m': MINUTE, '10m': 10 * MINUTE, '1h': HOUR } as const;

/** Milliseconds. A window begins with a minute, the day with an hour. */
const WINDOWS = {
  minute: { length: MINUTE, grain: MINUTE },
  hour: { length: HOUR, grain: MINUTE },
  day: { length: DAY, grain: HOUR },
} as const;

interface Step {
  /** Unix milliseconds. */
  readonly start: number;
  readonly row: Float64Array;
  readonly minutes: Set<number>;
  policies: number;
}

export function trafficOperations(context: AdminContext) {
  const lastKnown = createLastKnown();
  return {
    getHistory: async ({ query, now }) => {
      const { since: period = '1d', step = '1h' } = query;
      refuseBoth(query);
      const includes = ofApi(context, query.api);
      const length = STEPS[step];
      const from =
        Math.floor((now - Math.min(DAY, parseDuration(period)!)) / length) *
        length;
      const to = Math.max(from, startOf(now, MINUTE));
      const steps = createSteps(length, { ...query, includes });
      const response = await readLedger(context.ledger(), {
        now,
        from,
        values: (reader) =>
          reader.values({ from, to: now + MINUTE }, 'traffic'),
        async each(value) {
          if (value.start < to) steps.add(value, value.read('traffic'));
        },
      });
      const name = JSON.stringify([
        step,
        query.plan,
        query.api,
        query.operation,
      ]);
      if (response.isolated === null) lastKnown.set(name, steps.all());
      else
        for (const known of lastKnown.get(name))
          if (known.start >= from) steps.addStep(known);
      if (steps.all().every(({ row }) => requestsIn(row) === 0))
        refuseUnknownFilters(context, query);
      const { gateways, ...view } = coverageView(context, response);
      return {
        ...view,
        step,
        steps: steps.all().map(stepView),
        outages: joinOutages(steps.outages).map(outageView),
        gateways: gateways.map(({ gateway }) => gateway),
      };
    },
    getTop: async ({ query, now }) => {
      const { window = 'hour', by = 'requests', api, limit = 20 } = query;
      const ranked = await rankClients(
        context,
        by,
        window,
        now,
        ofApi(context, api),
      );
      const { ranking, response } = ranked;
      const { total } = ranking;
      const { lost: _lost, ...view } = coverageView(context, response);
      return {
        ...view,
        window,
        by,
        total,
        items: ranking.items(limit).map((item) => itemView(item, total)),
      };
    },
  } satisfies Partial<AdminOperations>;
}

/** `now`: Unix milliseconds. */
export async function rankClients(
  context: AdminContext,
  by: Ranked,
  window: keyof typeof WINDOWS,
  now: number,
  includes?: (operation: string) => boolean,
) {
  const { length, grain } = WINDOWS[window];
  const from = startOf(now - length, grain);
  const period = { from, to: now + MINUTE };
  const ranking = createRanking(by, includes);
  const response = await readLedger(context.ledger(), {
    now,
    from,
    values: (reader) =>
      reader.values(period, grain === HOUR ? 'hour' : 'minute'),
    async each(value) {
      for (const rows of value.usage()) {
        ranking.add(rows);
        await setImmediate();
      }
    },
  });
  return { ranking, response };
}

/** Histories whose steps are remembered: of the console, and some of a plan. */
const HISTORIES = 8;

/** The last complete responses, for an outage of the state. */
function createLastKnown() {
  const histories = new Map<string, readonly Step[]>();
  return {
    set(name: string, steps: readonly Step[]) {
      histories.delete(name);
      histories.set(name, steps);
      if (histories.size > HISTORIES)
        histories.delete(histories.keys().next().value!);
    },
    get: (name: string) => histories.get(name) ?? [],
  };
}

/** `length`: milliseconds of each step. */
function createSteps(length: number, filter: TrafficFilter) {
  const steps = new Map<number, Step>();
  const outages: StateOutage[] = [];

  function stepAt(start: number): Step {
    const step = steps.get(start) ?? {
      start,
      row: new Float64Array(COLUMNS),
      minutes: new Set<number>(),
      policies: 0,
    };
    steps.set(start, step);
    return step;
  }

  return {
    outages,
    /** Oldest first. */
    all: () =>
      [...steps.values()].sort((one, other) => one.start - other.start),
    /**
     * What was stored of a step before an outage. This process may have some of it too, so the
     * larger count holds.
     */
    addStep({ start, row, minutes, policies }: Step) {
      const step = stepAt(start);
      for (const [i, count] of row.entries())
        step.row[i] = Math.max(step.row[i]!, count);
      for (const minute of minutes) step.minutes.add(minute);
      step.policies |= policies;
    },
    add({ start: minute, span, policies }: Head, traffic: Uint8Array) {
      const step = stepAt(Math.floor(minute / length) * length);
      addTraffic(step.row, traffic, filter);
      step.minutes.add(minute);
      step.policies |= policies;
      if (policies > 0)
        outages.push({ begin: minute, end: minute + span, policies });
    },
  };
}

function refuseBoth({ operation, plan }: Query): void {
  if (operation !== undefined && plan !== undefined)
    throw new AdminError(
      'invalid_value',
      'Ask for an operation or for a plan, not for both.',
    );
}

function stepView({ start, minutes, policies, row }: Step) {
  return {
    at: time(start),
    minutes: minutes.size,
    ...outcomesIn(row),
    statuses: Object.fromEntries(
      Object.entries(statusesIn(row)).filter(([, count]) => count > 0),
    ),
    ...latencyOf(durationsIn(row)),
    outagePolicies: policiesOf(policies),
  };
}

const outageView = ({ begin, end, policies }: StateOutage) => ({
  begin: time(begin),
  end: time(end),
  policies: policiesOf(policies),
});

const policiesOf = (bits: number) =>
  POLICIES.filter((_policy, i) => (bits & (1 << i)) !== 0);

function itemView(
  { client, operation, count, last }: RankedItem,
  total: number,
) {
  return {
    key: client?.key ?? null,
    account: client?.account ?? null,
    plan: client?.plan ?? null,
    operation,
    count,
    share: Math.round((count / total) * 10_000) / 10_000,
    last: time(last),
  };
}

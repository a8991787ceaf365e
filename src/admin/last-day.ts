import { setImmediate } from 'node:timers/promises';
import type { WindowUses } from '../ledger/highest.ts';
import { requestsOf, unpackRows } from '../ledger/usage-table.ts';
import { UsesTables } from '../ledger/uses.ts';
import { isSameCounter, kindOf } from '../limits/kinds.ts';
import type { Window } from '../limits/limits.ts';
import { type Simulation, simulateLimit } from '../limits/plan-simulation.ts';
import type { Plans } from '../limits/plans.ts';
import { fullNameOf } from '../limits/scopes.ts';
import type { KeyRecord } from '../records/keys/key.ts';
import { subjectOf } from '../records/keys/subjects.ts';
import type { AdminContext } from './context.ts';
import { coverageView, readLastDay } from './ledger.ts';
import type { Subject } from './subjects.ts';
import { time } from './view.ts';

const MOST_SUBJECTS = 100;

type Refusing = Simulation & { readonly window: Window };

/**
 * Simulates each window of the plan `name` by itself on the admitted requests of the last day;
 * `null`: the plan has no limits of its own.
 */
export async function lastDay(
  context: AdminContext,
  now: number,
  name: string,
  planned: Plans,
  keys: readonly KeyRecord[],
) {
  const plan = planned.plans.get(name)!;
  if (plan.windows === null) return null;
  const before = context.plans().plans.get(name);
  const counted = plan.windows.filter(
    (window) =>
      before?.count === plan.count &&
      before.windows?.some((one) => isSameCounter(one, window)),
  );
  const uses = new UsesTables();
  const requests = { admitted: 0, refused: 0 };
  const response = await readLastDay(context, now, async (value) => {
    uses.add(value.read('uses'));
    for (const rows of value.usage()) {
      countRequests(requests, rows, name);
      await setImmediate();
    }
  });
  const usesOf = (window: Window) =>
    uses.table(name, window, plan.count)?.all ?? NO_USES;
  const highest = { costliest: uses.costliest, windows: counted.map(usesOf) };
  const subjects = refusedTo(counted, highest, namesOf(keys, planned));
  const { since, gateways, unresponsive, isolated } = coverageView(
    context,
    response,
  );
  return {
    since,
    requests,
    windows: plan.windows.map((window) => {
      const place = counted.indexOf(window);
      const begun = uses.countedSince(name, window, plan.count);
      const isKnown = response.since !== null && place >= 0;
      return {
        ...windowFields(
          window,
          isKnown ? highest.windows[place]! : null,
          subjects,
        ),
        since: isKnown
          ? time(Math.min(now, Math.max(response.since, begun)))
          : null,
      };
    }),
    subjects: subjects
      .slice(0, MOST_SUBJECTS)
      .map(({ key, account, windows }) => ({
        key,
        account,
        windows: windows.map(({ window, peak, at, times, refused }) => ({
          window: fullNameOf(window),
          peak,
          began: time(beganAt(window, at)),
          times,
          refused,
        })),
      })),
    gateways,
    unresponsive,
    isolated,
  };
}

/** Of a plan, by the verdict of admission. */
function countRequests(
  sum: { admitted: number; refused: number },
  rows: Uint8Array,
  plan: string,
): void {
  unpackRows(rows, ({ clients, outcomes }) => (row) => {
    const { verdict } = outcomes[row.outcome]!;
    if (clients[row.client]!.plan !== plan || verdict === null) return;
    sum[verdict === 'admitted' ? 'admitted' : 'refused'] += requestsOf(row);
  });
}

const NO_USES: WindowUses = { floor: 0, local: false, rows: [] };

interface KnownUses {
  /** Units of the costliest request. */
  readonly costliest: number;
  readonly windows: readonly WindowUses[];
}

/** For a sliding window the span of the clock. */
function beganAt(window: Window, at: number): number {
  const { meter, resetsAsWhole } = kindOf(window);
  return resetsAsWhole ? meter.beginBefore(window, at) : at;
}

type SubjectName = Pick<Subject, 'key' | 'account'>;
type RefusedSubject = SubjectName & { readonly windows: readonly Refusing[] };

function namesOf(
  keys: readonly KeyRecord[],
  planned: Plans,
): ReadonlyMap<string, SubjectName> {
  return new Map(
    keys.map((key) => {
      const isOfKey = planned.plans.get(key.plan)?.count !== 'account';
      return [
        subjectOf(key, planned),
        { key: isOfKey ? key.id : null, account: key.account },
      ];
    }),
  );
}

/** Highest refusals first. */
function refusedTo(
  windows: readonly Window[],
  { windows: uses, costliest }: KnownUses,
  names: ReadonlyMap<string, SubjectName>,
): RefusedSubject[] {
  const found = windows.flatMap((window, i) => {
    const { rows } = uses[i]!;
    const floor = floorOf(uses[i]!);
    return [...rows].flatMap(([subject, readings]) => {
      const refusing =
        names.has(subject) &&
        simulateLimit(window, usesIn(readings), { floor, costliest });
      return refusing ? [{ subject, ...refusing, window }] : [];
    });
  });
  const most = ({ windows: refusing }: RefusedSubject) =>
    Math.max(...refusing.map(({ refused }) => refused.most ?? refused.least));
  return [...Map.groupBy(found, ({ subject }) => subject)]
    .map(([subject, refusing]) => ({
      ...names.get(subject)!,
      windows: refusing,
    }))
    .sort((one, other) => most(other) - most(one));
}

function usesIn(readings: readonly number[]) {
  return Array.from({ length: readings.length / 2 }, (_, i) => ({
    at: readings[2 * i]!,
    used: readings[2 * i + 1]!,
  }));
}

/** The use that a window without a reading may have. */
function floorOf({ floor, local }: WindowUses): number {
  return local ? Number.POSITIVE_INFINITY : floor;
}

/** `uses` `null`: not counted. */
function windowFields(
  window: Window,
  uses: WindowUses | null,
  subjects: readonly RefusedSubject[],
) {
  const { kind, limit } = window;
  const name = fullNameOf(window);
  if (uses === null)
    return {
      name,
      kind,
      limit,
      counted: false,
      floor: null,
      local: false,
      limited: 0,
      refused: null,
    };
  const refusing = subjects.flatMap(({ windows }) =>
    windows.filter((one) => one.window === window),
  );
  const least = sum(refusing.map(({ refused }) => refused.least));
  const most = refusing.map(({ refused }) => refused.most);
  return {
    name,
    kind,
    limit,
    counted: true,
    floor: uses.floor,
    local: uses.local,
    limited: refusing.length,
    refused: {
      least,
      most:
        floorOf(uses) > limit || most.includes(null)
          ? null
          : sum(most as number[]),
    },
  };
}

const sum = (values: readonly number[]): number =>
  values.reduce((all, value) => all + value, 0);

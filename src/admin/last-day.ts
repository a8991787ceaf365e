import { DAY } from '../common/time.ts';
import { isSameCounter, kindOf } from '../limits/kinds.ts';
import type { Window } from '../limits/limits.ts';
import { type Simulation, simulateLimit } from '../limits/plan-simulation.ts';
import type { Plans } from '../limits/plans.ts';
import { planRow } from '../observe/history/minute.ts';
import { sumOf, verdictsIn } from '../observe/history/row.ts';
import type { WindowUses } from '../observe/peaks/highest.ts';
import type { PeakCounts } from '../observe/peaks/peaks.ts';
import { HISTORY_STEPS, history, mergeHistory } from '../observe/peers/history.ts';
import { mergePeaks, peaks } from '../observe/peers/peaks.ts';
import { ask, completeSince } from '../observe/peers/peers.ts';
import type { KeyRecord } from '../records/keys/key.ts';
import { subjectOf } from '../records/keys/subjects.ts';
import type { AdminContext } from './context.ts';
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
      before?.count === plan.count && before.windows?.some((one) => isSameCounter(one, window)),
  );
  const [{ answers, unresponsive, lost, isolated }, requests] = await Promise.all([
    ask(context.peers(), peaks, {
      plan: name,
      windows: counted.map(({ kind, span, limit }) => ({ kind, span, above: limit })),
    }),
    requestsOf(context, now, name),
  ]);
  const known = answers.length === 0 ? null : mergePeaks(answers.map(({ answer }) => answer));
  const parties = known ? refusedTo(counted, known, namesOf(keys, planned)) : [];
  return {
    since: known && time(completeSince(known.since, lost)),
    requests,
    windows: plan.windows.map((window) => {
      const place = counted.indexOf(window);
      const latest = Math.max(
        ...answers.map(({ answer }) => Math.max(answer.since, answer.countedSince[place] ?? 0)),
      );
      const since = completeSince(latest, lost);
      return {
        ...windowFields(window, place, known, parties),
        since: known && place >= 0 ? time(since) : null,
      };
    }),
    subjects: parties.slice(0, MOST_SUBJECTS).map(({ key, account, windows }) => ({
      key,
      account,
      windows: windows.map(({ window, peak, at, times, refused }) => ({
        window: window.name,
        peak,
        began: time(beganAt(window, at)),
        times,
        refused,
      })),
    })),
    gateways: answers.map(({ gateway, answer }) => ({
      gateway,
      since: time(answer.since),
      missing: answer.missing,
    })),
    unresponsive,
    isolated,
  };
}

/** For a sliding window the span of the clock. */
function beganAt(window: Window, at: number): number {
  return kindOf(window).resetsAsWhole ? at - window.span : at;
}

type SubjectName = Pick<Subject, 'key' | 'account'>;
type RefusedSubject = SubjectName & { readonly windows: readonly Refusing[] };

function namesOf(keys: readonly KeyRecord[], planned: Plans): ReadonlyMap<string, SubjectName> {
  return new Map(
    keys.map((key) => {
      const isOfKey = planned.plans.get(key.plan)?.count !== 'account';
      return [subjectOf(key, planned), { key: isOfKey ? key.id : null, account: key.account }];
    }),
  );
}

/** Highest refusals first. */
function refusedTo(
  windows: readonly Window[],
  { windows: uses, costliest }: PeakCounts,
  names: ReadonlyMap<string, SubjectName>,
): RefusedSubject[] {
  const found = windows.flatMap((window, i) => {
    const { rows } = uses[i]!;
    const floor = floorOf(uses[i]!);
    return [...rows].flatMap(([subject, readings]) => {
      const refusing =
        names.has(subject) && simulateLimit(window, usesIn(readings), { floor, costliest });
      return refusing ? [{ subject, ...refusing, window }] : [];
    });
  });
  const most = ({ windows: refusing }: RefusedSubject) =>
    Math.max(...refusing.map(({ refused }) => refused.most ?? refused.least));
  return [...Map.groupBy(found, ({ subject }) => subject)]
    .map(([subject, refusing]) => ({ ...names.get(subject)!, windows: refusing }))
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

/** `place`: the index of its uses; -1: not counted. */
function windowFields(
  window: Window,
  place: number,
  known: PeakCounts | null,
  parties: readonly RefusedSubject[],
) {
  const { name, kind, limit } = window;
  if (place < 0 || known === null)
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
  const refusing = parties.flatMap(({ windows }) => windows.filter((one) => one.window === window));
  const uses = known.windows[place]!;
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
      most: floorOf(uses) > limit || most.includes(null) ? null : sum(most as number[]),
    },
  };
}

async function requestsOf(context: AdminContext, now: number, plan: string) {
  const length = HISTORY_STEPS['1h'];
  const from = Math.floor((now - DAY) / length) * length;
  const { answers } = await ask(context.peers(), history, {
    from,
    to: now,
    step: '1h',
    row: planRow(plan),
  });
  const spans = mergeHistory(answers.map(({ answer }) => answer));
  const { admitted, limited, banned } = verdictsIn(sumOf(spans.map(({ row }) => row)));
  return { admitted, refused: limited + banned };
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

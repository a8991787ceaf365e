import { DAY, HOUR, MINUTE } from '../common/time.ts';
import {
  type Kind,
  pendingName,
  SPANS,
  startOf,
  sumIn,
  sumName,
} from './names.ts';
import { type SettledPart, settledIn } from './parts.ts';
import type { PendingExports } from './pending-exports.ts';
import { expired, isOver, type Retention } from './retention.ts';
import {
  type Commit,
  TurnLost,
  type UsageIndex,
  type UsageStore,
} from './store.ts';
import { requestsOf, unpackRows } from './usage-table.ts';
import { type Value, valueUnder } from './value.ts';
import { createValueSum } from './value-sum.ts';

/** Milliseconds after an hour for which its minutes have their keys. */
export const MINUTES = 2 * HOUR;
/** More would delay requests: Redis does nothing else meanwhile. */
const REMOVED_AT_ONCE = 200;

const SECTIONS = {
  m: ['traffic', 'usage', 'uses'],
  t: ['traffic'],
  h: ['usage', 'uses'],
  d: ['usage'],
  x: ['usage'],
} as const;

export interface RollupReport {
  readonly bytes: number;
  /** Sums that were removed because of `maxBytes`. */
  readonly dropped: number;
  /** Begins of hours and days that were removed because of their age, Unix milliseconds. */
  readonly old: Readonly<Record<'hours' | 'days', readonly number[]>>;
  /** Removed sums that were not exported. */
  readonly unexported: number;
  /** When the usage begins that is not exported yet; `null`: all is. Unix milliseconds. */
  readonly pendingSince: number | null;
}

interface RollupOptions {
  readonly store: UsageStore;
  readonly retention: () => Retention;
  readonly damaged: (damage: string) => void;
  /** `null`: usage is not exported. */
  readonly exports?: PendingExports | null;
}

type Sums = Map<string, Buffer | null>;

/**
 * Adds up: parts to minutes, minutes to hours, hours to days. A commit adds values to a sum and
 * removes them, so each request is in one of them, also if it comes late.
 */
export function createRollup({
  store,
  retention,
  damaged,
  exports = null,
}: RollupOptions) {
  /** The sum of this kind and time, and of `values`, in place of the one before. */
  async function sumUp(
    { sizes }: UsageIndex,
    kind: Kind,
    start: number,
    values: readonly Value[],
  ): Promise<Sums> {
    const before = namesOf(sizes, kind, start, SPANS[kind]);
    const sum = createValueSum({ start, span: SPANS[kind] }, SECTIONS[kind]);
    for (const value of [...(await read(before)), ...values])
      await sum.add(value);
    const bytes = await sum.pack();
    const sums: Sums = new Map(before.map((name) => [name, null]));
    return sums.set(sumName(kind, start, bytes), bytes);
  }

  async function read(names: readonly string[]): Promise<Value[]> {
    const found = await store.read(names);
    return found.map((bytes, i) => valueUnder(names[i]!, bytes, damaged));
  }

  async function takeParts(commit: Commit) {
    const index = await store.index();
    for (const [minute, parts] of settledIn(index)) {
      const values = parts.map(({ name, bytes }) =>
        valueUnder(name, bytes, damaged),
      );
      const sums = await sumUp(index, 'm', minute, values);
      if (exports !== null) await addPending(sums, minute, parts, values);
      const taken = parts.map(
        ({ name, isSure }, i) =>
          [name, isSure ? null : requestsOfValue(values[i]!)] as const,
      );
      await commit(sums, new Map(taken));
    }
  }

  async function addPending(
    sums: Sums,
    minute: number,
    parts: readonly SettledPart[],
    values: readonly Value[],
  ) {
    const sum = createValueSum({ start: minute, span: MINUTE }, SECTIONS.x);
    for (const value of values) await sum.add(value);
    const names = parts.map(({ name }) => name);
    if (!sum.isEmpty) sums.set(pendingName(minute, names), await sum.pack());
  }

  /** `now`: the time of the store. */
  async function takeMinutes(now: number, commit: Commit) {
    const minutes = startsOf((await store.index()).sizes.keys(), 'm');
    const hours = new Set(minutes.map((start) => startOf(start, HOUR)));
    for (const hour of hours) {
      if (!isOver(hour, HOUR + MINUTES, now)) continue;
      const index = await store.index();
      const { sizes } = index;
      const names = namesOf(sizes, 'm', hour, HOUR);
      const values = await read(names);
      const sums: Sums = new Map(names.map((name) => [name, null]));
      const day = startOf(hour, DAY);
      const hasDay = namesOf(sizes, 'd', day, DAY).length > 0;
      const hasHours = namesOf(sizes, 'h', day, DAY).length > 0;
      const targets: [Kind, number, Value[]][] = values.map((value) => [
        't',
        value.start,
        [value],
      ]);
      // The hours of a day are removed together.
      if (hasHours || !hasDay) targets.push(['h', hour, values]);
      if (hasDay) targets.push(['d', day, values]);
      for (const target of targets)
        for (const [name, bytes] of await sumUp(index, ...target))
          sums.set(name, bytes);
      await commit(sums, new Map());
    }
  }

  /** A day stands beside its hours. */
  async function makeDays(now: number, commit: Commit) {
    const index = await store.index();
    const { sizes } = index;
    const hours = startsOf(sizes.keys(), 'h');
    for (const day of new Set(hours.map((start) => startOf(start, DAY)))) {
      const hasMore = namesOf(sizes, 'm', day, DAY).length > 0;
      const hasDay = namesOf(sizes, 'd', day, DAY).length > 0;
      if (hasDay || hasMore || !isOver(day, DAY + MINUTES, now)) continue;
      const sum = createValueSum({ start: day, span: DAY }, SECTIONS.d);
      for (const name of namesOf(sizes, 'h', day, DAY))
        for (const value of await read([name])) await sum.add(value);
      const bytes = await sum.pack();
      await commit(new Map([[sumName('d', day, bytes), bytes]]), new Map());
    }
  }

  async function bound(
    now: number,
    commit: Commit,
  ): Promise<Omit<RollupReport, 'pendingSince'>> {
    const { sizes } = await store.index();
    const { bytes, old, dropped } = expired(sizes, retention(), now);
    const gone = [...old, ...dropped];
    for (let at = 0; at < gone.length; at += REMOVED_AT_ONCE) {
      const some = gone.slice(at, at + REMOVED_AT_ONCE);
      await commit(new Map(some.map((name) => [name, null])), new Map());
    }
    return {
      bytes,
      dropped: dropped.length,
      old: { hours: startsOf(old, 'h'), days: startsOf(old, 'd') },
      unexported: startsOf(gone, 'x').length,
    };
  }

  return {
    /** `null`: another gateway has the turn. Rejects if the store is unreachable. */
    async run(given: number): Promise<RollupReport | null> {
      let report: RollupReport | null = null;
      const work = async (commit: Commit) => {
        const now = await store.now(given);
        await takeParts(commit);
        await takeMinutes(now, commit);
        await makeDays(now, commit);
        // Nothing is removed untried.
        const pendingSince = (await exports?.send(commit)) ?? null;
        report = { ...(await bound(now, commit)), pendingSince };
      };
      try {
        await store.inTurn(work);
      } catch (error) {
        if (!(error instanceof TurnLost)) throw error;
      }
      return report;
    },
  };
}

export type Rollup = ReturnType<typeof createRollup>;

/** Of the sums of a kind that begin in a span of time. */
function namesOf(
  sizes: UsageIndex['sizes'],
  kind: Kind,
  start: number,
  span: number,
): string[] {
  return [...sizes.keys()].filter((name) => {
    const sum = sumIn(name);
    return sum?.kind === kind && sum.start >= start && sum.start < start + span;
  });
}

function startsOf(names: Iterable<string>, wanted: Kind): number[] {
  return [...names].flatMap((name) => {
    const sum = sumIn(name);
    return sum?.kind === wanted ? [sum.start] : [];
  });
}

function requestsOfValue(value: Value): number {
  let sum = 0;
  for (const part of value.usage())
    unpackRows(part, () => (row) => {
      sum += requestsOf(row);
    });
  return sum;
}

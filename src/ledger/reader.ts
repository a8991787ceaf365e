import { DAY, HOUR } from '../common/time.ts';
import { type Kind, type SumName, startOf, sumIn } from './names.ts';
import { partsIn } from './parts.ts';
import type { UsageIndex, UsageSource } from './store.ts';
import { type Value, valueUnder } from './value.ts';

/**
 * The sums that together have each request once, by grain. `traffic`: minutes, of which only the
 * traffic is stored for longer than two hours. `minute`: minutes with their keys, of the last hours.
 * A whole day has one sum in place of its hours.
 */
const KINDS = { minute: 'm', traffic: 'mt', hour: 'mh', day: 'mh' } as const;
type Grain = keyof typeof KINDS;

export interface Period {
  /** Unix milliseconds; multiples of the grain, or of an hour if a day is only in part inside. */
  readonly from: number;
  readonly to: number;
}

interface Named extends SumName {
  readonly name: string;
}

export interface NamedValue {
  readonly name: string;
  /** `null`: missing. */
  readonly bytes: Buffer | null;
}

/**
 * Names with their content, by days or hours (`span`), the oldest first. `choose` gets the sums of
 * one. While it is read, a gateway may add values up to sums; then it is read again.
 */
export async function* storedBy(
  source: UsageSource,
  span: number,
  { from, to }: Period,
  choose: (sums: readonly Named[], start: number) => readonly Named[],
): AsyncGenerator<NamedValue[]> {
  const isIn = (start: number) => start >= startOf(from, span) && start < to;
  let groups = groupsOf(await source.index(), span);
  const starts = [...groups.keys()].filter(isIn).sort((a, b) => a - b);
  for (const start of starts) {
    let missing: readonly string[] = [];
    for (;;) {
      const { sums = [], parts = [] } = groups.get(start) ?? {};
      const names = choose(sums, start).map(({ name }) => name);
      const found = await source.read(names);
      const absent = names.filter((_, i) => found[i] == null);
      if (absent.every((name) => missing.includes(name))) {
        const read = names.map((name, i) => ({
          name,
          bytes: found[i] ?? null,
        }));
        const ofPeriod = parts.filter(
          ({ minute }) => minute >= from && minute < to,
        );
        yield [...read, ...ofPeriod];
        break;
      }
      missing = absent;
      groups = groupsOf(await source.index(), span);
    }
  }
}

interface Group {
  readonly sums: Named[];
  readonly parts: ReturnType<typeof partsIn>;
}

function groupsOf(index: UsageIndex, span: number): Map<number, Group> {
  const groups = new Map<number, Group>();
  const groupAt = (start: number) => {
    const at = startOf(start, span);
    const group = groups.get(at) ?? { sums: [], parts: [] };
    groups.set(at, group);
    return group;
  };
  for (const name of index.sizes.keys()) {
    const sum = sumIn(name);
    if (sum !== null) groupAt(sum.start).sums.push({ ...sum, name });
  }
  for (const part of partsIn(index)) groupAt(part.minute).parts.push(part);
  return groups;
}

/** What was counted in a period, from the largest sums to what was stored a second ago. */
export function createUsageReader(
  source: UsageSource,
  damaged: (damage: string) => void,
) {
  async function sumsOf(wanted: Kind): Promise<Set<number>> {
    const names = [...(await source.index()).sizes.keys()];
    const sums = names.map(sumIn).filter((sum) => sum?.kind === wanted);
    return new Set(sums.map((sum) => sum!.start));
  }

  return {
    /** When the oldest begins; `null`: nothing is stored. Rejects if the store is unreachable. */
    async since(): Promise<number | null> {
      const index = await source.index();
      const starts = partsIn(index).map(({ minute }) => minute);
      for (const name of index.sizes.keys())
        starts.push(sumIn(name)?.start ?? Number.POSITIVE_INFINITY);
      const oldest = starts.reduce((a, b) => Math.min(a, b), Infinity);
      return oldest === Number.POSITIVE_INFINITY ? null : oldest;
    },
    /** Begins of days of the period whose hours were removed. Rejects as `since`. */
    async daysWithoutHours({ from, to }: Period): Promise<number[]> {
      const hours = [...(await sumsOf('h'))].map((hour) => startOf(hour, DAY));
      return [...(await sumsOf('d'))]
        .filter((day) => day + DAY > from && day < to && !hours.includes(day))
        .sort((one, other) => one - other);
    },
    /**
     * Each request of the period is in one value, the oldest hour first. Rejects if the store is
     * unreachable.
     */
    async *values(period: Period, grain: Grain): AsyncGenerator<Value> {
      const { from, to } = period;
      const choose = (sums: readonly Named[], start: number) => {
        const isDay = grain === 'day' && start >= from && start + DAY <= to;
        const hasDay = isDay && sums.some(({ kind }) => kind === 'd');
        const kinds: string = hasDay ? 'md' : KINDS[grain];
        return sums.filter(
          (sum) =>
            kinds.includes(sum.kind) && sum.start >= from && sum.start < to,
        );
      };
      const span = grain === 'day' ? DAY : HOUR;
      for await (const all of storedBy(source, span, period, choose)) {
        const values = all.map(({ name, bytes }) =>
          valueUnder(name, bytes, damaged),
        );
        yield* values.sort((one, other) => one.start - other.start);
      }
    },
  };
}

export type UsageReader = ReturnType<typeof createUsageReader>;

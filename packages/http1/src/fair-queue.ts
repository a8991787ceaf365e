/** Pass the same object each time, so that waiting allocates nothing for it. */
export interface QueueOwner {
  readonly group: string;
  /** Relative to other groups; above 0. */
  readonly weight: number;
  readonly member: string;
}

export interface Turn<T> {
  readonly item: T;
  readonly group: Group<T>;
  readonly estimate: number;
}

interface Group<T> {
  readonly name: string;
  weight: number;
  readonly members: Map<string, Member<T>>;
  readonly byLength: Member<T>[][];
  /** Items that continue at the next turn of the group. */
  readonly begun: T[];
  size: number;
  serving: number;
  /** Virtual time: the cost of its turns divided by its weight. */
  time: number;
  /** Moving average; `null` before the first turn has ended. */
  mean: number | null;
}

interface Member<T> {
  readonly name: string;
  readonly group: Group<T>;
  readonly entries: Entry<T>[];
  place: number;
}

interface Entry<T> {
  readonly item: T;
  readonly deadline: number;
  readonly member: Member<T>;
}

const NEWEST = 0.1;
const UNKNOWN = 100;

/**
 * Start-time fair queueing by measured cost; an idle group saves nothing up. If the queue is full,
 * the newest item of the group with the longest weighted queue is dropped.
 */
export function createFairQueue<T>(most: number) {
  const groups = new Map<string, Group<T>>();
  const entries = new Set<Entry<T>>();
  let begun = 0;
  /** A new group starts at this virtual time. */
  let time = 0;
  let mean: number | null = null;

  /** `null` if the turn was not used. */
  function end({ group, estimate }: Turn<T>, cost: number | null): void {
    group.serving--;
    group.time += ((cost ?? 0) - estimate) / group.weight;
    if (cost !== null) {
      group.mean = meanOf(group.mean, cost);
      mean = meanOf(mean, cost);
    }
    forgetIdle(group);
  }

  function groupOf({ group: name, weight }: QueueOwner): Group<T> {
    const existing = groups.get(name);
    if (existing === undefined) {
      const group = newGroup<T>(name, weight);
      groups.set(name, group);
      return group;
    }
    existing.weight = weight;
    return existing;
  }

  function nextGroup(): Group<T> | null {
    let next: Group<T> | null = null;
    for (const group of groups.values()) {
      if (
        group.size + group.begun.length > 0 &&
        (next === null || isSooner(group, next))
      )
        next = group;
    }
    return next;
  }

  function mostOver(newcomer: Entry<T>): Entry<T> {
    let { group: fullest } = newcomer.member;
    for (const group of groups.values()) {
      if (group.size / group.weight > fullest.size / fullest.weight)
        fullest = group;
    }
    const longest = fullest.byLength.at(-1)!;
    const isAmong =
      fullest === newcomer.member.group &&
      newcomer.member.entries.length === fullest.byLength.length;
    return isAmong ? newcomer : longest.at(-1)!.entries.at(-1)!;
  }

  function takeOut(entry: Entry<T>): T {
    const { member } = entry;
    const { group, entries: own } = member;
    entries.delete(entry);
    moveTo(member, () =>
      own.splice(entry === own.at(-1) ? -1 : own.indexOf(entry), 1),
    );
    if (own.length === 0) group.members.delete(member.name);
    group.size--;
    forgetIdle(group);
    return entry.item;
  }

  /** A group is kept while it waits, is being served, or has used more than its share. */
  function forgetIdle(group: Group<T>): void {
    if (group.size > 0 || group.begun.length > 0 || group.serving > 0) return;
    if (group.time <= time || entries.size + begun === 0)
      groups.delete(group.name);
    if (groups.size === 0) time = 0;
  }

  return {
    /** If lowered below the current length, each newcomer drops one item. */
    /** If lowered below the current length, each newcomer drops one item. */
    set most(next: number) {
      most = next;
    },
    get size(): number {
      return entries.size;
    },
    add(item: T, owner: QueueOwner, deadline: number): T | null {
      const group = groupOf(owner);
      if (group.size === 0) group.time = Math.max(group.time, time);
      const member = memberOf(group, owner.member);
      const entry = { item, deadline, member };
      entries.add(entry);
      moveTo(member, () => member.entries.push(entry));
      group.size++;
      return entries.size <= most ? null : takeOut(mostOver(entry));
    },
    next(): Turn<T> | null {
      const group = nextGroup();
      if (group === null) return null;
      time = Math.max(time, group.time);
      const estimate = group.mean ?? mean ?? UNKNOWN;
      group.time += estimate / group.weight;
      group.serving++;
      if (group.begun.length > 0) {
        begun--;
        return { item: group.begun.pop()!, group, estimate };
      }
      const [member] = group.members.values();
      const [entry] = member!.entries;
      takeOut(entry!);
      if (group.members.delete(member!.name))
        group.members.set(member!.name, member!);
      return { item: entry!.item, group, estimate };
    },
    end,
    /**
     * Ends a turn whose item is not done: it is the next of its group. It counts neither in `size`
     * nor as late.
     */
    again(turn: Turn<T>, cost: number): void {
      turn.group.begun.push(turn.item);
      begun++;
      end(turn, cost);
    },
    takeLate(now: number): T | null {
      const [oldest] = entries;
      return oldest === undefined || oldest.deadline > now
        ? null
        : takeOut(oldest);
    },
    leave(item: T, { group, member }: QueueOwner): void {
      const own = groups.get(group)?.members.get(member)?.entries;
      const entry = own?.find((entry) => entry.item === item);
      if (entry !== undefined) takeOut(entry);
    },
  };
}

function newGroup<T>(name: string, weight: number): Group<T> {
  return {
    name,
    weight,
    members: new Map(),
    byLength: [],
    begun: [],
    size: 0,
    serving: 0,
    time: 0,
    mean: null,
  };
}

function meanOf(before: number | null, newest: number): number {
  return before === null ? newest : before + NEWEST * (newest - before);
}

function isSooner(one: Group<unknown>, other: Group<unknown>): boolean {
  return (
    one.time < other.time ||
    (one.time === other.time && one.weight > other.weight)
  );
}

function memberOf<T>(group: Group<T>, name: string): Member<T> {
  const existing = group.members.get(name);
  if (existing !== undefined) return existing;
  const member = { name, group, entries: [], place: 0 };
  group.members.set(name, member);
  return member;
}

function moveTo<T>(member: Member<T>, change: () => void): void {
  const { byLength } = member.group;
  const { length: before } = member.entries;
  if (before > 0) {
    const list = byLength[before - 1]!;
    const last = list.pop()!;
    if (last !== member) {
      list[member.place] = last;
      last.place = member.place;
    }
  }
  change();
  const { length } = member.entries;
  if (length > 0) {
    byLength[length - 1] ??= [];
    member.place = byLength[length - 1]!.push(member) - 1;
  }
  while (byLength.length > 0 && byLength.at(-1)!.length === 0) byLength.pop();
}

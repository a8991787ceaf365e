/** For whom something waits. The same object each time, so that waiting allocates nothing for it. */
export interface Party {
  readonly group: string;
  /** The part of its group beside the other groups; above 0. */
  readonly weight: number;
  /** Members of a group share its part evenly. */
  readonly member: string;
}

/** The turn of one that waited. Whoever serves it says what it has cost. */
export interface Turn<T> {
  readonly item: T;
  readonly group: Group<T>;
  /** What it was taken to cost when its turn came. */
  readonly estimate: number;
}

/** What waits of one group, and how much the group has had. */
interface Group<T> {
  readonly name: string;
  weight: number;
  /** Those that have something waiting; the first is the next one. */
  readonly members: Map<string, Member<T>>;
  /** The same by how much it is. */
  readonly byLength: Member<T>[][];
  size: number;
  /** Turns that have not ended. */
  serving: number;
  /** The group's own time: what its turns have cost, divided by its weight. The group with the least is the next one. */
  time: number;
  /** What a turn of it costs, recent ones count most; `null` before the first has ended. */
  mean: number | null;
}

interface Member<T> {
  readonly name: string;
  readonly group: Group<T>;
  readonly entries: Entry<T>[];
  /** Where it is in its list of `byLength`. */
  place: number;
}

interface Entry<T> {
  readonly item: T;
  readonly deadline: number;
  readonly member: Member<T>;
}

/** What the newest turn counts in the mean cost of its group. */
const NEWEST = 0.1;
/** What a turn is taken to cost while none of any group has ended. */
const UNKNOWN = 100;

/**
 * A bounded queue in which groups share by weight what they wait for, however much each of them has waiting: start-time fair queueing, by
 * what turns really cost. A group that has nothing waiting leaves its part to the others and saves nothing up. Within a group its
 * members take turns. Where it is full, the newest goes of whoever has most waiting for its part.
 */
export class FairQueue<T> {
  /** So many may wait. With fewer than do, each newcomer makes one go. */
  most: number;
  readonly #groups = new Map<string, Group<T>>();
  /** In the order of their coming. */
  readonly #entries = new Set<Entry<T>>();
  /** The time of the group that was served last: one that comes to wait begins there. */
  #time = 0;
  /** What a turn costs, whoever has it. */
  #mean: number | null = null;

  constructor(most: number) {
    this.most = most;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** How many wait of each group that has any waiting. */
  *sizes(): Iterable<readonly [group: string, size: number]> {
    for (const { name, size } of this.#groups.values()) if (size > 0) yield [name, size];
  }

  /** Lets `item` wait. Returns the one that has to go, which may be `item` itself; `null`: there was room. */
  add(item: T, party: Party, deadline: number): T | null {
    const group = this.#groupOf(party);
    if (group.size === 0) group.time = Math.max(group.time, this.#time);
    const member = memberOf(group, party.member);
    const entry = { item, deadline, member };
    this.#entries.add(entry);
    moveTo(member, () => member.entries.push(entry));
    group.size++;
    return this.#entries.size <= this.most ? null : this.#takeOut(this.#mostOver(entry));
  }

  /** The next one; its turn has begun. */
  next(): Turn<T> | null {
    const group = this.#nextGroup();
    if (group === null) return null;
    this.#time = Math.max(this.#time, group.time);
    const estimate = group.mean ?? this.#mean ?? UNKNOWN;
    group.time += estimate / group.weight;
    group.serving++;
    const [member] = group.members.values();
    const [entry] = member!.entries;
    this.#takeOut(entry!);
    // Behind the others of its group.
    if (group.members.delete(member!.name)) group.members.set(member!.name, member!);
    return { item: entry!.item, group, estimate };
  }

  /** The turn has ended. `cost` in any unit; `null`: it was not used, and costs nothing. */
  end({ group, estimate }: Turn<T>, cost: number | null): void {
    group.serving--;
    group.time += ((cost ?? 0) - estimate) / group.weight;
    if (cost !== null) {
      group.mean = meanOf(group.mean, cost);
      this.#mean = meanOf(this.#mean, cost);
    }
    this.#forgetIdle(group);
  }

  /** One that waits since before its deadline, which is `now` or earlier, no longer waits; `null`: there is none. */
  takeLate(now: number): T | null {
    const [oldest] = this.#entries;
    return oldest === undefined || oldest.deadline > now ? null : this.#takeOut(oldest);
  }

  /** `item` of this party waits no longer, if it still does. */
  leave(item: T, { group, member }: Party): void {
    const entries = this.#groups.get(group)?.members.get(member)?.entries;
    const entry = entries?.find((entry) => entry.item === item);
    if (entry !== undefined) this.#takeOut(entry);
  }

  #groupOf({ group: name, weight }: Party): Group<T> {
    const known = this.#groups.get(name);
    if (known === undefined) {
      const group = { name, weight, members: new Map(), byLength: [], size: 0, serving: 0, time: 0, mean: null };
      this.#groups.set(name, group);
      return group;
    }
    known.weight = weight;
    return known;
  }

  #nextGroup(): Group<T> | null {
    let next: Group<T> | null = null;
    for (const group of this.#groups.values()) {
      if (group.size > 0 && (next === null || isSooner(group, next))) next = group;
    }
    return next;
  }

  /** The newest of whoever has most waiting for its part. Of equals it is the one that has just come. */
  #mostOver(newcomer: Entry<T>): Entry<T> {
    let { group: most } = newcomer.member;
    for (const group of this.#groups.values()) {
      if (group.size / group.weight > most.size / most.weight) most = group;
    }
    const longest = most.byLength.at(-1)!;
    const isAmong = most === newcomer.member.group && newcomer.member.entries.length === most.byLength.length;
    return isAmong ? newcomer : longest.at(-1)!.entries.at(-1)!;
  }

  #takeOut(entry: Entry<T>): T {
    const { member } = entry;
    const { group, entries } = member;
    this.#entries.delete(entry);
    moveTo(member, () => entries.splice(entry === entries.at(-1) ? -1 : entries.indexOf(entry), 1));
    if (entries.length === 0) group.members.delete(member.name);
    group.size--;
    this.#forgetIdle(group);
    return entry.item;
  }

  /** A group is remembered while it waits, is served, or has had more than its part. */
  #forgetIdle(group: Group<T>): void {
    if (group.size > 0 || group.serving > 0) return;
    if (group.time <= this.#time || this.#entries.size === 0) this.#groups.delete(group.name);
    if (this.#groups.size === 0) this.#time = 0;
  }
}

function meanOf(before: number | null, newest: number): number {
  return before === null ? newest : before + NEWEST * (newest - before);
}

function isSooner(one: Group<unknown>, other: Group<unknown>): boolean {
  return one.time < other.time || (one.time === other.time && one.weight > other.weight);
}

function memberOf<T>(group: Group<T>, name: string): Member<T> {
  const known = group.members.get(name);
  if (known !== undefined) return known;
  const member = { name, group, entries: [], place: 0 };
  group.members.set(name, member);
  return member;
}

/** Changes the length of what the member has waiting, and keeps it in the list of those that have as much. */
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

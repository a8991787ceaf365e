import type { QueueOwner } from '@storegate/http1';
import { createLargestFirst, type LargestFirst } from './largest-first.ts';

/**
 * The bytes in use that a plan of weight 1 may have for each byte that is not in use: two thirds of
 * all, if alone.
 */
const IN_USE = 2;
/** Members of a plan that stay without a body: making them for each takes time. */
const IDLE_MEMBERS = 100;

export interface Evictable {
  /** Its bytes are released already. */
  evicted(): void;
}

/** What one body holds. */
export interface Holding {
  readonly member: Member;
  readonly holder: Evictable | null;
  bytes: number;
  state: 'evictable' | 'kept' | 'released';
  before: Holding | null;
  after: Holding | null;
}

interface Group {
  weight: number;
  bytes: number;
  kept: number;
  readonly members: Map<string, Member>;
  /** The members that hold something evictable. */
  readonly evictable: LargestFirst<Member>;
}

interface Member {
  readonly name: string;
  readonly group: Group;
  bytes: number;
  kept: number;
  /** Holdings that are not released. */
  open: number;
  place: number;
  /** The evictable ones are a list: the first has not grown for the longest time. */
  first: Holding | null;
  last: Holding | null;
}

export type SharedBudget = ReturnType<typeof createSharedBudget>;

/**
 * In bytes, shared as the connections of a backend are: by weight among groups, equally among their
 * members. A single owner may fill it. If it is full, the group with the most bytes for its weight
 * loses what its largest member holds, unless the newcomer would hold more. What is kept is in use
 * and not evicted, so it always leaves a part free.
 */
export function createSharedBudget(most: number) {
  let held = 0;
  let kept = 0;
  /** They stay: there are as many as plans. */
  const groups = new Map<string, Group>();

  /** May be repeated. */
  function release(holding: Holding): void {
    const { member, bytes, state } = holding;
    if (state === 'released') return;
    const { group } = member;
    if (state === 'kept') addKept(member, -bytes);
    held -= bytes;
    member.bytes -= bytes;
    group.bytes -= bytes;
    detach(holding);
    settle(member);
    holding.state = 'released';
    member.open--;
    if (member.open === 0 && group.members.size > IDLE_MEMBERS)
      group.members.delete(member.name);
  }

  function freeSpace(member: Member, bytes: number): boolean {
    while (held + bytes > most) {
      const holding = evictedFor(member, bytes);
      if (holding === null) return false;
      release(holding);
      holding.holder!.evicted();
    }
    return true;
  }

  /** `null`: nothing evictable belongs to an owner that holds more than `member` would. */
  function evictedFor(
    { group: own, bytes: before }: Member,
    bytes: number,
  ): Holding | null {
    let fullest: Group | null = null;
    let level = (own.bytes + bytes) / own.weight;
    for (const group of groups.values()) {
      if (
        group === own ||
        group.evictable.first === undefined ||
        group.bytes / group.weight <= level
      )
        continue;
      fullest = group;
      level = group.bytes / group.weight;
    }
    const { first } = (fullest ?? own).evictable;
    if (
      first === undefined ||
      (fullest === null && first.bytes <= before + bytes)
    )
      return null;
    return first.first;
  }

  /**
   * A member keeps at most as much as its group could keep beside it: whatever they do, some
   * remains for others.
   */
  function mayKeep({ group, kept: own }: Member, bytes: number): boolean {
    const free = most - kept - bytes;
    return own + bytes + group.kept + bytes <= IN_USE * group.weight * free;
  }

  function addKept(member: Member, bytes: number): void {
    kept += bytes;
    member.kept += bytes;
    member.group.kept += bytes;
  }

  function groupOf({ group: name, weight }: QueueOwner): Group {
    const existing = groups.get(name);
    if (existing !== undefined) {
      existing.weight = weight;
      return existing;
    }
    const group = {
      weight,
      bytes: 0,
      kept: 0,
      members: new Map(),
      evictable: createLargestFirst<Member>(),
    };
    groups.set(name, group);
    return group;
  }

  return {
    /** A lower value applies to later calls only. */
    /** A lower value applies to later calls only. */
    get most() {
      return most;
    },
    set most(next) {
      most = next;
    },
    get held(): number {
      return held;
    },
    /** `null`: it is in use from the beginning. */
    open(owner: QueueOwner, holder: Evictable | null): Holding {
      const member = memberOf(groupOf(owner), owner.member);
      member.open++;
      const state = holder === null ? 'kept' : 'evictable';
      return { member, holder, bytes: 0, state, before: null, after: null };
    },
    /** May evict other holdings. */
    grow(holding: Holding, bytes: number): boolean {
      if (bytes === 0) return true;
      const { member, state } = holding;
      if (state === 'kept' && !mayKeep(member, bytes)) return false;
      if (held + bytes > most && !freeSpace(member, bytes)) return false;
      held += bytes;
      holding.bytes += bytes;
      member.bytes += bytes;
      member.group.bytes += bytes;
      if (state === 'kept') addKept(member, bytes);
      else moveToEnd(holding);
      settle(member);
      return true;
    },
    /** Whether `keep` would accept a holding of so many bytes now. */
    couldKeep({ member }: Holding, bytes: number): boolean {
      return mayKeep(member, bytes);
    },
    /** It is not evicted from now on. Returns false if its owner keeps too much already. */
    keep(holding: Holding): boolean {
      const { member, bytes } = holding;
      if (bytes > 0 && !mayKeep(member, bytes)) return false;
      addKept(member, bytes);
      detach(holding);
      settle(member);
      holding.state = 'kept';
      return true;
    },
    release,
  };
}

function memberOf(group: Group, name: string): Member {
  const existing = group.members.get(name);
  if (existing !== undefined) return existing;
  const member = {
    name,
    group,
    bytes: 0,
    kept: 0,
    open: 0,
    place: -1,
    first: null,
    last: null,
  };
  group.members.set(name, member);
  return member;
}

function moveToEnd(holding: Holding): void {
  const { member } = holding;
  if (member.last !== holding) {
    detach(holding);
    holding.before = member.last;
    if (member.last === null) member.first = holding;
    else member.last.after = holding;
    member.last = holding;
  }
}

/** After each change of its bytes, or of what it has to evict. */
function settle(member: Member): void {
  const { evictable } = member.group;
  if (member.first === null) evictable.take(member);
  else evictable.put(member);
}

function detach(holding: Holding): void {
  const { member, before, after } = holding;
  if (before !== null) before.after = after;
  else if (member.first === holding) member.first = after;
  if (after !== null) after.before = before;
  else if (member.last === holding) member.last = before;
  holding.before = null;
  holding.after = null;
}

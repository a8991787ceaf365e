import { randomUUID } from 'node:crypto';
import { MINUTE, SECOND } from '../common/time.ts';
import type { Plans } from '../limits/plans.ts';
import {
  type Event,
  outcomeCode,
  type RequestEvent,
} from '../observe/events.ts';
import { addTo, COLUMNS, countIn, placesOf } from '../observe/traffic/row.ts';
import { POLICIES } from './block.ts';
import { startOf } from './names.ts';
import { packTraffic, TrafficTable } from './traffic.ts';
import { packUsage, type UsageClient, UsageTable } from './usage-table.ts';
import { UsesTables } from './uses.ts';

/** Bounds the memory, and the time of packing. */
const MOST_ROWS = 4_096;
/** Clients that are remembered between slices. */
const MOST_CLIENTS = 131_072;

/** What was counted since the slice before, in one minute. */
export interface Counts {
  /** Unix milliseconds. */
  readonly minute: number;
  readonly policies: number;
  readonly requests: number;
  readonly traffic: Buffer;
  readonly usage: Buffer;
  readonly uses: Buffer;
}

/**
 * Adds up requests of this process. Slices end by `take`, with their minute, or when they are full.
 * `clock`: Unix milliseconds.
 */
export function createRecorder(
  clock: () => number,
  ended: (counts: Counts) => void,
) {
  const id = randomUUID();
  const before = new Float64Array(COLUMNS);
  const rows = new TrafficTable();
  /** Blocks are bounded, not slices. */
  const uses = new UsesTables(Number.POSITIVE_INFINITY);
  let usage = new UsageTable();
  let clients = new Clients(usage);
  let requests = 0;
  let policy = 0;
  let policies = 0;
  const observe = (event: Event) => {
    switch (event.type) {
      case 'request':
        count(event, turn());
        break;
      case 'state.outage':
        turn();
        policy = bitOf(event.policy);
        policies |= policy;
        break;
      case 'state.recovered':
        turn();
        policy = 0;
        break;
    }
  };

  let minute: number = startOf(clock(), MINUTE);

  /** Ends the slice if its minute has ended. Returns the time. */
  function turn() {
    const now = clock();
    if (now < minute || now >= minute + MINUTE) {
      if (requests > 0 || policies > 0) end();
      minute = startOf(now, MINUTE);
    }
    return now;
  }

  function count(event: RequestEvent, now: number) {
    const { operation, plan, verdict, trace } = event;
    const places = placesOf(event);
    countIn(rows.row(plan, operation), places);
    requests++;
    countUsage(event, now);
    if (verdict === 'admitted' && plan !== null && trace)
      uses.note(plan, trace);
    if (usage.size >= MOST_ROWS) end();
  }

  function countUsage(event: RequestEvent, now: number) {
    const { operation, verdict, nearLimit, unheeding, duration, trace } = event;
    const row = usage.row(
      clients.of(event),
      usage.operation(operation),
      clients.outcome(event),
    );
    usage.count(
      row,
      duration,
      nearLimit || unheeding,
      Math.floor(now / SECOND),
    );
    if (trace)
      usage.amount(
        row,
        verdict === 'admitted' ? trace.cost : 0,
        trace.received,
        trace.sent,
      );
  }

  function end() {
    const traffic = packTraffic(rows);
    const packing = packUsage(usage);
    let packed = packing.next();
    while (!packed.done) packed = packing.next();
    const counts = {
      minute,
      policies,
      requests,
      traffic,
      usage: packed.value,
      uses: uses.pack(),
    };
    for (const [, , row] of rows.rows()) addTo(before, row);
    rows.clear();
    usage.clear();
    uses.clear();
    if (usage.clients.length > MOST_CLIENTS) {
      usage = new UsageTable();
      clients = new Clients(usage);
    }
    requests = 0;
    policies = policy;
    ended(counts);
  }

  return {
    observe,
    /** Of the plans in force from now on. */
    countWindows({ plans }: Plans) {
      uses.noteWindows(id, clock(), plans);
    },
    /** All requests since the start, without plan and operation. */
    get total(): Float64Array {
      const total = before.slice();
      for (const [, , row] of rows.rows()) addTo(total, row);
      return total;
    },
    turn,
    /** Ends the slice, which may be empty. */
    take() {
      turn();
      end();
    },
    get isEmpty() {
      return requests === 0;
    },
  };
}

/** Finds clients and outcomes without joining their names. */
class Clients {
  readonly #usage: UsageTable;
  readonly #byName = new Map<string | null, number>();
  readonly #outcomes = new Map<string | null, Map<number, number>>();

  constructor(usage: UsageTable) {
    this.#usage = usage;
  }

  /** A change of its account or plan makes another client. */
  of({ keyId, account, plan }: RequestEvent): number {
    const name = keyId ?? plan;
    const place = this.#byName.get(name);
    if (
      place !== undefined &&
      isSame(this.#usage.clients[place]!, keyId, account, plan)
    )
      return place;
    const found = this.#usage.client({ key: keyId, account, plan });
    this.#byName.set(name, found);
    return found;
  }

  outcome(event: RequestEvent): number {
    const { status, verdict, deprecated } = event;
    const code = outcomeCode(event);
    let byStatus = this.#outcomes.get(code);
    if (byStatus === undefined) {
      byStatus = new Map();
      this.#outcomes.set(code, byStatus);
    }
    const name =
      8 * status +
      2 * (verdict === null ? 3 : VERDICTS.indexOf(verdict)) +
      Number(deprecated);
    let place = byStatus.get(name);
    if (place === undefined) {
      place = this.#usage.outcome({ status, code, verdict, deprecated });
      byStatus.set(name, place);
    }
    return place;
  }
}

const VERDICTS: readonly string[] = ['admitted', 'limited', 'banned'];

function isSame(
  client: UsageClient,
  key: string | null,
  account: string | null,
  plan: string | null,
): boolean {
  return (
    client.plan === plan && client.account === account && client.key === key
  );
}

function bitOf(policy: string): number {
  const place = (POLICIES as readonly string[]).indexOf(policy);
  return place < 0 ? 0 : 1 << place;
}

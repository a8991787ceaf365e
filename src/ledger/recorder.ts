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
 */
export class Recorder {
  readonly #clock: () => number;
  readonly #ended: (counts: Counts) => void;
  readonly #id = randomUUID();
  readonly #before = new Float64Array(COLUMNS);
  readonly #traffic = new TrafficTable();
  /** Blocks are bounded, not slices. */
  readonly #uses = new UsesTables(Number.POSITIVE_INFINITY);
  #usage = new UsageTable();
  #clients = new Clients(this.#usage);
  #minute: number;
  #requests = 0;
  #policy = 0;
  #policies = 0;

  /** `clock`: Unix milliseconds. */
  constructor(clock: () => number, ended: (counts: Counts) => void) {
    this.#clock = clock;
    this.#ended = ended;
    this.#minute = startOf(clock(), MINUTE);
  }

  readonly observe = (event: Event): void => {
    switch (event.type) {
      case 'request':
        this.#count(event, this.turn());
        break;
      case 'state.outage':
        this.turn();
        this.#policy = bitOf(event.policy);
        this.#policies |= this.#policy;
        break;
      case 'state.recovered':
        this.turn();
        this.#policy = 0;
        break;
    }
  };

  /** Of the plans in force from now on. */
  countWindows({ plans }: Plans): void {
    this.#uses.noteWindows(this.#id, this.#clock(), plans);
  }

  /** All requests since the start, without plan and operation. */
  get total(): Float64Array {
    const total = this.#before.slice();
    for (const [, , row] of this.#traffic.rows()) addTo(total, row);
    return total;
  }

  /** Ends the slice if its minute has ended. Returns the time. */
  turn(): number {
    const now = this.#clock();
    if (now < this.#minute || now >= this.#minute + MINUTE) {
      if (this.#requests > 0 || this.#policies > 0) this.#end();
      this.#minute = startOf(now, MINUTE);
    }
    return now;
  }

  /** Ends the slice, which may be empty. */
  take(): void {
    this.turn();
    this.#end();
  }

  get isEmpty(): boolean {
    return this.#requests === 0;
  }

  #count(event: RequestEvent, now: number): void {
    const { operation, plan, verdict, trace } = event;
    const places = placesOf(event);
    countIn(this.#traffic.row(plan, operation), places);
    this.#requests++;
    this.#countUsage(event, now);
    if (verdict === 'admitted' && plan !== null && trace)
      this.#uses.note(plan, trace);
    if (this.#usage.size >= MOST_ROWS) this.#end();
  }

  #countUsage(event: RequestEvent, now: number): void {
    const { operation, verdict, nearLimit, unheeding, duration, trace } = event;
    const usage = this.#usage;
    const row = usage.row(
      this.#clients.of(event),
      usage.operation(operation),
      this.#clients.outcome(event),
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

  #end(): void {
    const traffic = packTraffic(this.#traffic);
    const packing = packUsage(this.#usage);
    let packed = packing.next();
    while (!packed.done) packed = packing.next();
    const counts = {
      minute: this.#minute,
      policies: this.#policies,
      requests: this.#requests,
      traffic,
      usage: packed.value,
      uses: this.#uses.pack(),
    };
    for (const [, , row] of this.#traffic.rows()) addTo(this.#before, row);
    this.#traffic.clear();
    this.#usage.clear();
    this.#uses.clear();
    if (this.#usage.clients.length > MOST_CLIENTS) {
      this.#usage = new UsageTable();
      this.#clients = new Clients(this.#usage);
    }
    this.#requests = 0;
    this.#policies = this.#policy;
    this.#ended(counts);
  }
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

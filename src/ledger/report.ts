import { setImmediate } from 'node:timers/promises';
import { DAY, HOUR, MINUTE } from '../common/time.ts';
import type { Block } from './block.ts';
import { startOf } from './names.ts';
import { isRefused, requestsOf } from './ranking.ts';
import type { LedgerReader, Period } from './reader.ts';
import {
  DURATION_BUCKETS,
  type Outcome,
  type PackedNames,
  type UsageClient,
  type UsageRow,
  unpackUsage,
} from './usage-table.ts';

/** In the order of columns. `code`: of the error catalogue; null for responses of the backend. */
export const DIMENSIONS = [
  'day',
  'hour',
  'minute',
  'account',
  'key',
  'plan',
  'operation',
  'status',
  'code',
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export const FIGURES = [
  'requests',
  'units',
  'refused',
  'failed',
  'received',
  'sent',
  'within10ms',
  'within100ms',
  'within1s',
  'within10s',
  'slower',
] as const;
const WIDTH = FIGURES.length;
const FIRST_DURATION = FIGURES.indexOf('within10ms');

type ReportFilter = Partial<
  Readonly<Record<'account' | 'key' | 'plan' | 'operation' | 'status', string>>
>;

export interface ReportQuestion extends Period {
  readonly by: readonly Dimension[];
  /** Only calls of deprecated operations. */
  readonly deprecated?: boolean;
  readonly filter: ReportFilter;
}

/** Dimensions of the question in the order of DIMENSIONS, then FIGURES. */
export type ReportRow = readonly (string | number | null)[];

export const dimensionsOf = ({ by }: Pick<ReportQuestion, 'by'>): Dimension[] =>
  DIMENSIONS.filter((name) => by.includes(name));

/** Times that a row may have, the shortest first. */
const TIMES = { minute: MINUTE, hour: HOUR, day: DAY } as const;
const GRAINS = ['minute', 'hour', 'day'] as const;

/**
 * Rows in lists. With a time as dimension only the rows of one are in memory at once. Rejects if
 * the store is unreachable.
 */
export async function* report(
  reader: Pick<LedgerReader, 'blocks'>,
  question: ReportQuestion,
): AsyncGenerator<readonly ReportRow[]> {
  const span = spanOf(question);
  const grain = GRAINS.find((name) => question.by.includes(name)) ?? 'day';
  let groups: Report | null = null;
  for await (const block of reader.blocks(question, grain)) {
    const start = span === null ? 0 : startOf(block.start, span);
    if (groups?.start !== start) {
      if (groups !== null) yield* groups.rows();
      groups = new Report(question, start);
    }
    await groups.add(block);
  }
  if (groups !== null) yield* groups.rows();
}

/** Milliseconds; `null`: rows have no time. */
export function spanOf({ by }: Pick<ReportQuestion, 'by'>): number | null {
  const grain = GRAINS.find((name) => by.includes(name));
  return grain === undefined ? null : TIMES[grain];
}

/** Rows between two turns for other work. */
const AT_ONCE = 2_000;

/** Sums of blocks by the dimensions of a question. */
export class Report {
  readonly #question: ReportQuestion;
  readonly start: number;
  readonly #time: Readonly<Record<'day' | 'hour' | 'minute', string>>;
  readonly #clients = new Names<UsageClient>();
  readonly #operations = new Names<string>();
  readonly #outcomes = new Names<Pick<Outcome, 'status' | 'code'>>();
  /** By client: rows by operation and outcome. */
  readonly #rows: Map<number, number>[] = [];
  #sums = new Float64Array(64 * WIDTH);
  readonly #heads: (readonly [client: number, word: number])[] = [];

  /** `start`: the time of its rows, Unix milliseconds. */
  constructor(question: ReportQuestion, start = 0) {
    this.#question = question;
    this.start = start;
    const time = new Date(start).toISOString();
    this.#time = {
      minute: time,
      hour: `${time.slice(0, 13)}:00:00.000Z`,
      day: time.slice(0, 10),
    };
  }

  async add(block: Block): Promise<void> {
    const adding = unpackUsage(await block.read('usage'), (names) =>
      this.#adderOf(names),
    );
    for (const _ of adding) await setImmediate();
  }

  *rows(): Generator<readonly ReportRow[]> {
    const columns = dimensionsOf(this.#question);
    for (let from = 0; from < this.#heads.length; from += AT_ONCE) {
      const part = this.#heads.slice(from, from + AT_ONCE);
      yield part.map((_, i) => this.#row(from + i, columns));
    }
  }

  #row(row: number, columns: readonly Dimension[]): ReportRow {
    const [client, word] = this.#heads[row]!;
    const { account, key, plan } = this.#clients.all[client]!;
    const operation = this.#operations.all[Math.floor(word / 0x1_0000)]!;
    const { status, code } = this.#outcomes.all[word % 0x1_0000]!;
    const values = {
      account,
      key,
      plan,
      operation,
      status,
      code,
      ...this.#time,
    };
    const sums = this.#sums.subarray(row * WIDTH, (row + 1) * WIDTH);
    return [...columns.map((name) => values[name]), ...sums];
  }

  #adderOf({
    clients,
    operations,
    outcomes,
  }: PackedNames): (row: UsageRow) => void {
    const { by, filter, deprecated: deprecatedOnly } = this.#question;
    const has = (name: Dimension) => by.includes(name);
    const fits = (name: keyof ReportFilter, value: string | number | null) =>
      filter[name] === undefined ||
      (value !== null && filter[name] === String(value));
    const clientPlaces = clients.map(({ account, key, plan }) => {
      if (!fits('account', account) || !fits('key', key) || !fits('plan', plan))
        return -1;
      const shown = {
        account: has('account') ? account : null,
        key: has('key') ? key : null,
        plan: has('plan') ? plan : null,
      };
      return this.#clients.place(shown);
    });
    const operationPlaces = operations.map((name) =>
      fits('operation', name)
        ? this.#operations.place(has('operation') ? name : '')
        : -1,
    );
    const outcomePlaces = outcomes.map(({ status, code, deprecated }) => {
      if (!fits('status', status) || (deprecatedOnly && !deprecated)) return -1;
      const shown = {
        status: has('status') ? status : 0,
        code: has('code') ? code : null,
      };
      return this.#outcomes.place(shown);
    });
    return (row) => {
      const client = clientPlaces[row.client]!;
      const operation = operationPlaces[row.operation]!;
      const outcome = outcomePlaces[row.outcome]!;
      if (client < 0 || operation < 0 || outcome < 0) return;
      this.#count(
        this.#place(client, operation * 0x1_0000 + outcome),
        row,
        outcomes[row.outcome]!,
      );
    };
  }

  #place(client: number, word: number): number {
    this.#rows[client] ??= new Map();
    const rows = this.#rows[client];
    let row = rows.get(word);
    if (row === undefined) {
      row = this.#heads.push([client, word]) - 1;
      rows.set(word, row);
      if (row * WIDTH === this.#sums.length) {
        const larger = new Float64Array(2 * this.#sums.length);
        larger.set(this.#sums);
        this.#sums = larger;
      }
    }
    return row;
  }

  #count(row: number, counted: UsageRow, outcome: Outcome): void {
    const requests = requestsOf(counted);
    const at = row * WIDTH;
    const sums = this.#sums;
    sums[at]! += requests;
    sums[at + 1]! += counted.units;
    if (isRefused(outcome)) sums[at + 2]! += requests;
    if (outcome.status >= 500) sums[at + 3]! += requests;
    sums[at + 4]! += counted.received;
    sums[at + 5]! += counted.sent;
    for (let i = 0; i < DURATION_BUCKETS; i++)
      sums[at + FIRST_DURATION + i]! += counted.requests[i]!;
  }
}

class Names<T> {
  readonly #places = new Map<string, number>();
  readonly all: T[] = [];

  /** Values with the same members have one place. */
  place(value: T): number {
    const name = JSON.stringify(value);
    let place = this.#places.get(name);
    if (place === undefined) {
      place = this.all.push(value) - 1;
      this.#places.set(name, place);
    }
    return place;
  }
}

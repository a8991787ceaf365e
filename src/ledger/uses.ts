import { remembered } from '../common/remembered.ts';
import { excessOf } from '../limits/admission.ts';
import { placeOf } from '../limits/kinds.ts';
import type { Window } from '../limits/limits.ts';
import type { Plans } from '../limits/plans.ts';
import { isOwn } from '../limits/scopes.ts';
import type { RequestTrace } from '../observe/events.ts';
import { createExcessTable, type PackedExcess } from './excess-table.ts';
import { HighestUses, type WindowUses } from './highest.ts';

/** Weight of all tables of an hour, some 450 KiB. */
const WEIGHT = 24_576;
/** Starts and reloads of an hour. */
const MOST_LISTS = 200;

/** Whose requests a window counts. */
type Counted = 'key' | 'account';

/** Nested, because joining a key would take as long as all the rest. */
type TablesOfPlan = Partial<
  Record<Window['kind'], Map<Span, Partial<Record<Counted, HighestUses>>>>
>;

/** Milliseconds; of a window of an API `60000@notes`. */
type Span = number | string;

type PackedTable = readonly [
  plan: string,
  kind: Window['kind'],
  span: Span,
  counted: Counted,
  uses: WindowUses,
];

/** The windows that a process counts from a time on, Unix milliseconds. */
type CountedWindows = readonly [
  process: string,
  since: number,
  names: readonly string[],
];

interface PackedUses {
  readonly costliest: number;
  readonly counted: readonly CountedWindows[];
  readonly tables: readonly PackedTable[];
  /** Absent: nothing. */
  readonly excess?: readonly PackedExcess[];
}

/** The highest use of each window by each subject, from readings of admission. */
export class UsesTables {
  readonly #plans = new Map<string, TablesOfPlan>();
  readonly #budget: number;
  /** Requests above limits that did not refuse them. */
  readonly excess = createExcessTable();
  readonly #counted: CountedWindows[] = [];
  /** Units; 0: no request was admitted. */
  costliest = 0;

  /** `budget`: weight of what is packed. */
  constructor(budget = WEIGHT) {
    this.#budget = budget;
  }

  note(plan: string, { admission, subject, cost, scopes }: RequestTrace): void {
    if (admission === null || subject === null) return;
    if (cost > this.costliest) this.costliest = cost;
    this.excess.note(plan, subject, excessOf(admission, cost, scopes));
    const counted = subject.startsWith('account:') ? 'account' : 'key';
    for (const reading of admission.readings) {
      const { window, used, resetAt } = reading;
      if (!isOwn(window)) continue;
      const uses = this.#table(plan, window.kind, spanIn(window), counted);
      // What remains of a gateway's share does not show the use.
      if (admission.by === 'local') uses.local = true;
      else uses.note(subject, placeOf(window, resetAt, admission.now), used);
    }
  }

  table(plan: string, window: PlanWindow, counted: Counted) {
    return this.#tableAt(plan, window.kind, spanIn(window), counted);
  }

  #tableAt(
    plan: string,
    kind: Window['kind'],
    span: Span,
    counted: Counted,
  ): HighestUses | null {
    return this.#plans.get(plan)?.[kind]?.get(span)?.[counted] ?? null;
  }

  noteWindows(process: string, now: number, plans: Plans['plans']): void {
    const names = [...plans.values()].flatMap(({ name, count, windows }) =>
      (windows ?? []).map((window) => nameOf(name, window, count)),
    );
    this.#counted.push([process, now, names]);
  }

  /**
   * Since when all processes count a window of the plan, Unix milliseconds; 0: since the begin;
   * Infinity: one does not.
   */
  countedSince(plan: string, window: PlanWindow, counted: Counted): number {
    const name = nameOf(plan, window, counted);
    const processes = Map.groupBy(
      this.#counted,
      ([process]) => process,
    ).values();
    const since = [...processes].map((lists) => {
      const ordered = lists.toSorted(([, one], [, other]) => one - other);
      const last = ordered.findLastIndex(
        ([, , names]) => !names.includes(name),
      );
      return last < 0
        ? 0
        : (ordered[last + 1]?.[1] ?? Number.POSITIVE_INFINITY);
    });
    return Math.max(0, ...since);
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const packed = JSON.parse(Buffer.from(bytes).toString()) as PackedUses;
    const { costliest, counted, tables, excess = [] } = packed;
    this.excess.absorb(excess);
    this.costliest = Math.max(this.costliest, costliest);
    this.#counted.push(...counted);
    for (const [plan, kind, span, counted, uses] of tables)
      this.#table(plan, kind, span, counted).absorb(uses);
  }

  /** Of what is packed, in units of some 18 bytes. */
  get weight(): number {
    return weightOf([...this.#all()].map(([, , , , uses]) => uses));
  }

  pack(): Buffer {
    const all = [...this.#all()];
    const counted = this.#counted.slice(-MOST_LISTS);
    if (all.length + counted.length === 0) return Buffer.of();
    freeSpace(
      all.map(([, , , , uses]) => uses),
      this.#budget,
    );
    const tables = all.map(
      ([plan, kind, span, counted, uses]): PackedTable => [
        plan,
        kind,
        span,
        counted,
        uses.all,
      ],
    );
    const excess = this.excess.pack();
    const packed: PackedUses = { costliest: this.costliest, counted, tables };
    return Buffer.from(
      JSON.stringify(excess.length === 0 ? packed : { ...packed, excess }),
    );
  }

  #table(
    plan: string,
    kind: Window['kind'],
    span: Span,
    counted: Counted,
  ): HighestUses {
    const existing = this.#tableAt(plan, kind, span, counted);
    if (existing !== null) return existing;
    const ofPlan = this.#plans.get(plan) ?? {};
    this.#plans.set(plan, ofPlan);
    ofPlan[kind] ??= new Map();
    const ofSpan = ofPlan[kind].get(span) ?? {};
    ofPlan[kind].set(span, ofSpan);
    const table = new HighestUses();
    ofSpan[counted] = table;
    return table;
  }

  *#all() {
    for (const [plan, kinds] of this.#plans)
      for (const [kind, spans] of Object.entries(kinds) as [
        Window['kind'],
        Map<Span, Partial<Record<Counted, HighestUses>>>,
      ][])
        for (const [span, tables] of spans)
          for (const [counted, table] of Object.entries(tables))
            yield [plan, kind, span, counted as Counted, table] as const;
  }
}

type PlanWindow = Pick<Window, 'kind' | 'span' | 'scope'>;

const nameOf = (plan: string, window: PlanWindow, counted: Counted) =>
  `${window.kind} ${spanIn(window)} ${counted} ${plan}`;

const spanIn = (window: PlanWindow): Span =>
  window.scope === undefined ? window.span : spanOfApi(window);
const spanOfApi = remembered(({ span, scope }: PlanWindow) => span + scope!);

/** The heaviest tables shrink first, so that one plan does not displace another. */
function freeSpace(tables: readonly HighestUses[], budget: number): void {
  if (weightOf(tables) <= budget) return;
  while (weightOf(tables) > 0.8 * budget) {
    const heaviest = tables.reduce((one, other) =>
      other.weight > one.weight ? other : one,
    );
    heaviest.shrink(heaviest.weight / 2);
  }
}

const weightOf = (tables: readonly HighestUses[]): number =>
  tables.reduce((sum, table) => sum + table.weight, 0);

import type { Excess } from '../limits/admission.ts';
import { fullNameOf } from '../limits/scopes.ts';

/** Subjects of a window in an hour; the requests of others are summed up without a name. */
const MOST_SUBJECTS = 1_000;
const OTHERS = '';

type Counts = readonly [requests: number, units: number];
type Name = readonly [plan: string, window: string, excess: string];

export type PackedExcess = readonly [
  ...name: Name,
  rows: readonly (readonly [subject: string, ...counts: Counts])[],
];

/** The excess of windows that do not refuse. */
export interface ExcessSum {
  readonly window: string;
  readonly excess: 'watch' | 'overage';
  readonly requests: number;
  readonly units: number;
  /** Keys or accounts; a lower bound beyond `MOST_SUBJECTS` in an hour. */
  readonly subjects: number;
}

/** Counts admitted requests above limits by plan, window and subject; tables are merged by adding. */
export function createExcessTable() {
  const byWindow = new Map<string, Map<string, Counts>>();

  function pack(): PackedExcess[] {
    return [...byWindow].map(([name, rows]) => [
      ...(JSON.parse(name) as Name),
      [...rows].map(([subject, counts]) => [subject, ...counts] as const),
    ]);
  }

  function add(name: string, subject: string, [requests, units]: Counts): void {
    const rows = byWindow.get(name) ?? new Map<string, Counts>();
    byWindow.set(name, rows);
    const place =
      rows.has(subject) || rows.size < MOST_SUBJECTS ? subject : OTHERS;
    const existing = rows.get(place) ?? [0, 0];
    rows.set(place, [existing[0] + requests, existing[1] + units]);
  }

  return {
    note(plan: string, subject: string, excesses: readonly Excess[]): void {
      for (const { window, units } of excesses) {
        const name: Name = [plan, fullNameOf(window), window.excess!];
        add(JSON.stringify(name), subject, [1, units]);
      }
    },
    absorb(tables: readonly PackedExcess[]): void {
      for (const [plan, window, excess, rows] of tables) {
        const name = JSON.stringify([plan, window, excess] satisfies Name);
        for (const [subject, ...counts] of rows) add(name, subject, counts);
      }
    },
    pack,
    /** The windows of a plan with requests above their limits. */
    sums(plan: string): ExcessSum[] {
      return pack()
        .filter(([name]) => name === plan)
        .map(([, window, excess, rows]) => ({
          window,
          excess: excess as ExcessSum['excess'],
          requests: rows.reduce((sum, [, requests]) => sum + requests, 0),
          units: rows.reduce((sum, [, , units]) => sum + units, 0),
          subjects: rows.filter(([subject]) => subject !== OTHERS).length,
        }));
    },
  };
}

import {
  addPacked,
  Packing,
  packRow,
  Unpacking,
} from '../observe/traffic/packing.ts';
import { COLUMNS, type Row } from '../observe/traffic/row.ts';

/** `null`: requests without a plan. */
type PlanName = string | null;

type TrafficTable = ReturnType<typeof createTrafficTable>;

/** Rows by plan and operation: verdicts, statuses and fine durations, for charts. */
export function createTrafficTable() {
  const rows = new Map<PlanName, Map<string, Row>>();

  return {
    row(
      plan: PlanName,
      operation: string,
      make: () => Row = () => new Uint32Array(COLUMNS),
    ): Row {
      let ofPlan = rows.get(plan);
      if (ofPlan === undefined) {
        ofPlan = new Map();
        rows.set(plan, ofPlan);
      }
      let row = ofPlan.get(operation);
      if (row === undefined) {
        row = make();
        ofPlan.set(operation, row);
      }
      return row;
    },
    *rows(): Generator<readonly [plan: PlanName, operation: string, row: Row]> {
      for (const [plan, ofPlan] of rows)
        for (const [operation, row] of ofPlan) yield [plan, operation, row];
    },
  };
}

export function packTraffic(table: TrafficTable): Buffer {
  const packing = new Packing();
  for (const [plan, operation, row] of table.rows()) {
    packing.part(Buffer.from(JSON.stringify([plan, operation])));
    packing.part(packRow(row));
  }
  return packing.bytes;
}

export interface TrafficFilter {
  readonly plan?: string | undefined;
  readonly operation?: string | undefined;
  readonly includes?: (operation: string) => boolean;
}

/** Adds the rows that fit to `sum`. Throws NotPacked. */
export function addTraffic(
  sum: Float64Array,
  bytes: Uint8Array,
  filter: TrafficFilter,
): void {
  eachPacked(bytes, (plan, operation, packed) => {
    const fits =
      (filter.plan ?? plan) === plan &&
      (filter.operation ?? operation) === operation &&
      (filter.includes?.(operation) ?? true);
    if (fits) addPacked(sum, packed);
  });
}

/** Throws NotPacked. */
export function mergeTraffic(table: TrafficTable, bytes: Uint8Array): void {
  eachPacked(bytes, (plan, operation, packed) => {
    const row = table.row(plan, operation, () => new Float64Array(COLUMNS));
    addPacked(row as Float64Array, packed);
  });
}

function eachPacked(
  bytes: Uint8Array,
  each: (plan: PlanName, operation: string, packed: Uint8Array) => void,
): void {
  const packed = new Unpacking(bytes);
  while (!packed.isAtEnd) {
    const [plan, operation] = JSON.parse(packed.text()) as [PlanName, string];
    each(plan, operation, packed.part());
  }
}

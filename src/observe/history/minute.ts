import { MINUTE } from '../../common/time.ts';
import { addPacked, NotPacked, Packing, packRow, Unpacking } from './packing.ts';
import { COLUMNS, type Row } from './row.ts';

const FORMAT = 1;

/** Policies during an outage of the shared state. */
export const POLICIES = ['local', 'deny', 'allow'] as const;

export interface Minute {
  /** Unix milliseconds. */
  readonly start: number;
  /** A bit for each of POLICIES that decided. */
  readonly policies: number;
  readonly rows: ReadonlyMap<string, Row>;
}

export const ALL = '';
export const operationRow = (operation: string): string => `o ${operation}`;
export const planRow = (plan: string): string => `p ${plan}`;

export function packMinute({ start, policies, rows }: Minute): Buffer {
  const packing = new Packing();
  for (const number of [FORMAT, start / MINUTE, policies]) packing.number(number);
  for (const [name, row] of rows) {
    packing.part(Buffer.from(name));
    packing.part(packRow(row));
  }
  return packing.bytes;
}

/** Adds its rows to `rows`. Throws NotPacked. */
export function unpackMinute(bytes: Uint8Array, rows = new Map<string, Float64Array>()): Minute {
  const { start, policies } = eachRow(bytes, (packedName, packed) => {
    const name = Buffer.from(packedName).toString();
    const row = rows.get(name) ?? new Float64Array(COLUMNS);
    addPacked(row, packed);
    rows.set(name, row);
  });
  return { start, policies, rows };
}

/** Throws NotPacked. */
export function addMinute(
  sum: Float64Array,
  bytes: Uint8Array,
  name: string,
): Pick<Minute, 'start' | 'policies'> {
  const wanted = Buffer.from(name);
  return eachRow(bytes, (packedName, packed) => {
    if (wanted.equals(packedName)) addPacked(sum, packed);
  });
}

/** A bit for each of POLICIES that decided. Throws NotPacked. */
export function policiesIn(bytes: Uint8Array): number {
  return headOf(new Unpacking(bytes)).policies;
}

/** Throws NotPacked. */
export function withoutParts(bytes: Uint8Array): Buffer {
  const sum = new Float64Array(COLUMNS);
  return packMinute({ ...addMinute(sum, bytes, ALL), rows: new Map([[ALL, sum]]) });
}

/** Throws NotPacked. */
export function mergeMinutes(one: Uint8Array, other: Uint8Array): Buffer {
  const rows = new Map<string, Float64Array>();
  const { start, policies } = unpackMinute(one, rows);
  const more = unpackMinute(other, rows);
  return packMinute({ start, policies: policies | more.policies, rows });
}

function eachRow(
  bytes: Uint8Array,
  each: (name: Uint8Array, row: Uint8Array) => void,
): Pick<Minute, 'start' | 'policies'> {
  const packed = new Unpacking(bytes);
  const head = headOf(packed);
  while (!packed.isAtEnd) each(packed.part(), packed.part());
  return head;
}

function headOf(packed: Unpacking): Pick<Minute, 'start' | 'policies'> {
  const format = packed.number();
  if (format !== FORMAT) throw new NotPacked(`its format is ${format}`);
  const start = packed.number() * MINUTE;
  return { start, policies: packed.number() };
}

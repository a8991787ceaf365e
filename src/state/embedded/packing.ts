import {
  type Counters,
  newStrikeState,
  type StrikeState,
} from '../../limits/counters.ts';
import { kindOf, meterOf } from '../../limits/kinds.ts';
import type { Window } from '../../limits/limits.ts';
import type { Packer } from '../journal/compactor.ts';
import { JournalError } from '../journal/format.ts';

/**
 * Binary format of counters, all numbers little-endian: `[format, 1 byte]`, then blocks that begin
 * with their kind, 1 byte:
 * - a list of windows, once per payload and list: `[1][length, 4][JSON]`; lists are numbered from
 * 0;
 * - counters: `[2][length of the subject, 4][subject][list, 4][cells, 8 each][length of the strike
 * state, 4][JSON]`. The list defines the number of cells; length 0 means no strike state.
 */
const FORMAT = 1;
/**
 * The same with windows of a scope, which earlier versions would read as windows of the subject
 * itself.
 */
const WITH_SCOPES = 2;
/** The same with calendar windows, which earlier versions would read as sliding ones. */
const WITH_CALENDAR = 3;
const FORMATS = [FORMAT, WITH_SCOPES, WITH_CALENDAR];
const [WINDOWS, COUNTERS] = [1, 2];

const SHORT = 64;

export class CounterPacker implements Packer<Counters> {
  #bytes = Buffer.allocUnsafeSlow(1 << 16);
  #view = viewOf(this.#bytes);
  #at = 1;
  readonly #lists = new Map<readonly Window[], number>();
  #format = FORMAT;

  get size(): number {
    return this.#at - 1;
  }

  add(subject: string, { windows, cells, strikeState }: Counters): void {
    const list = this.#listOf(windows);
    const judged = strikeState ? JSON.stringify(strikeState) : '';
    this.#reserve(
      13 + 3 * subject.length + 8 * cells.length + 3 * judged.length,
    );
    const view = this.#view;
    view.setUint8(this.#at, COUNTERS);
    let at = this.#writeText(subject, this.#at + 1);
    view.setUint32(at, list, true);
    at += 4;
    for (let i = 0; i < cells.length; i++, at += 8)
      view.setFloat64(at, cells[i]!, true);
    this.#at = this.#writeText(judged, at);
  }

  take(): Buffer {
    this.#bytes[0] = this.#format;
    const payload = Buffer.from(this.#bytes.subarray(0, this.#at));
    this.#at = 1;
    this.#lists.clear();
    this.#format = FORMAT;
    return payload;
  }

  #listOf(windows: readonly Window[]): number {
    const known = this.#lists.get(windows);
    if (known !== undefined) return known;
    const text = JSON.stringify(windows);
    this.#format = Math.max(this.#format, ...windows.map(formatOf));
    this.#reserve(5 + 3 * text.length);
    this.#bytes[this.#at] = WINDOWS;
    this.#at = this.#writeText(text, this.#at + 1);
    const list = this.#lists.size;
    this.#lists.set(windows, list);
    return list;
  }

  /**
   * Writes length and text; returns the end. For short names the loop is faster than a call into
   * C++.
   */
  #writeText(text: string, at: number): number {
    const bytes = this.#bytes;
    const start = at + 4;
    let length = 0;
    if (text.length <= SHORT) {
      for (; length < text.length; length++) {
        const code = text.charCodeAt(length);
        if (code > 127) break;
        bytes[start + length] = code;
      }
    }
    if (length < text.length) length = bytes.write(text, start);
    this.#view.setUint32(at, length, true);
    return start + length;
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#at + more));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
    this.#view = viewOf(larger);
  }
}

function formatOf(window: Window): number {
  if (kindOf(window).hasZone) return WITH_CALENDAR;
  return window.scope === undefined ? FORMAT : WITH_SCOPES;
}

const viewOf = ({ buffer, byteOffset, length }: Buffer) =>
  new DataView(buffer, byteOffset, length);

/** Reads payloads. Equal lists of windows become one object, as in requests of the same plan. */
export class CounterUnpacker {
  readonly #lists = new Map<string, readonly Window[]>();

  /**
   * Calls `each` with the counters of a payload of `file`. Throws JournalError if another version
   * wrote it.
   */
  read(
    payload: Buffer,
    file: string,
    each: (subject: string, counters: Counters) => void,
  ): void {
    if (!FORMATS.includes(payload[0]!))
      throw new JournalError(
        `${file} was written by another storegate (counters ${payload[0]})`,
      );
    const lists: { windows: readonly Window[]; cells: number }[] = [];
    for (let at = 1; at < payload.length; ) {
      const kind = payload[at];
      if (kind === WINDOWS) {
        const end = at + 5 + payload.readUInt32LE(at + 1);
        lists.push(this.#listOf(payload.toString('utf8', at + 5, end)));
        at = end;
      } else if (kind === COUNTERS) {
        at = readCounters(payload, at + 1, lists, each);
      } else {
        throw new JournalError(
          `${file} holds a record that is not valid counters (${kind})`,
        );
      }
    }
  }

  #listOf(text: string) {
    const windows =
      this.#lists.get(text) ?? (JSON.parse(text) as readonly Window[]);
    this.#lists.set(text, windows);
    return {
      windows,
      cells: windows.reduce((sum, window) => sum + meterOf(window).size, 0),
    };
  }
}

function readCounters(
  payload: Buffer,
  start: number,
  lists: readonly {
    readonly windows: readonly Window[];
    readonly cells: number;
  }[],
  each: (subject: string, counters: Counters) => void,
): number {
  let at = start + 4 + payload.readUInt32LE(start);
  const subject = payload.toString('utf8', start + 4, at);
  const list = lists[payload.readUInt32LE(at)]!;
  at += 4;
  const cells = new Array<number>(list.cells);
  for (let i = 0; i < list.cells; i++, at += 8)
    cells[i] = payload.readDoubleLE(at);
  const length = payload.readUInt32LE(at);
  at += 4;
  const strikeState =
    length > 0
      ? (JSON.parse(
          payload.toString('utf8', at, at + length),
        ) as Partial<StrikeState>)
      : null;
  each(subject, {
    windows: list.windows,
    cells,
    strikeState: strikeState && { ...newStrikeState(), ...strikeState },
  });
  return at + length;
}

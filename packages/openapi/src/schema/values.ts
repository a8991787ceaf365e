import { createHash, hash } from 'node:crypto';
import { Binary } from '../binary.ts';
import { LargeMap } from '../large-map.ts';
import { IDLE, loop, namesIn, work } from './pauses.ts';

/** In characters; an outer object includes the digest of a longer text. */
const LONG = 200;

/** Members or entries that are sorted and digested in a step. */
const MANY = 1_000;

/** Fewer texts are found without a pause between them. */
const FEW = 50;

/** The work for a value, and for a digest. */
const [VALUE, HASH] = [20, 400];

const [TEXTS, ORDER, DIGEST, DIGESTS, DIFFERENT] = [{}, {}, {}, {}, {}];

const MARK = '\u0000';

/**
 * Equal values get equal texts: arrays and objects become a text with a leading mark, which is also
 * added to strings that begin with it. Numbers of a contract may be floats instead of bigints.
 */
export function canonical(value: unknown): unknown {
  if (typeof value === 'object' && value !== null)
    return `${MARK}${text(value)}`;
  if (typeof value === 'string')
    return value.startsWith(MARK) ? MARK + JSON.stringify(value) : value;
  const large =
    typeof value === 'number' &&
    Number.isInteger(value) &&
    !Number.isSafeInteger(value);
  return large ? BigInt(value) : value;
}

function text(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null)
    return String(canonical(value));
  const cached = work.pass.digests?.get(value);
  if (cached !== undefined) {
    work.run?.reach(DIGESTS, value);
    return cached;
  }
  const whole = textOf(value);
  if (typeof whole === 'string' && whole.length <= LONG) return whole;
  const digest = `digest ${typeof whole === 'string' ? hash('sha256', whole) : digestOf(value, whole)}`;
  work.left -= HASH;
  const { pass, run, left } = work;
  if (pass === IDLE) return digest;
  pass.digests ??= new LargeMap();
  pass.digests.add(value, digest);
  if (run !== null && left < 0) run.pause(DIGESTS, value);
  return digest;
}

/** Or the texts of many members or entries. */
function textOf(value: object): string | readonly string[] {
  if (value instanceof Binary) return `bytes ${value.digest}`;
  const names = Array.isArray(value) ? null : namesIn(value);
  const textAt = (i: number) =>
    names === null
      ? text((value as unknown[])[i])
      : `${JSON.stringify(names[i])}:${text(value[names[i] as never])}`;
  const texts = allTexts(
    value,
    names?.length ?? (value as unknown[]).length,
    textAt,
  );
  const sorted = names === null ? texts : inOrder(value, texts);
  if (sorted.length >= MANY) return sorted;
  return names === null ? `[${sorted.join()}]` : `{${sorted.join()}}`;
}

function digestOf(value: object, texts: readonly string[]): string {
  const { digest } = loop(
    DIGEST,
    value,
    {
      next: 0,
      digest: createHash('sha256').update(Array.isArray(value) ? '[' : '{'),
    },
    Math.ceil(texts.length / MANY),
    (i, { digest }) => {
      digest.update(`${texts.slice(i * MANY, (i + 1) * MANY).join()},`);
      work.left -= MANY * 20;
      return true;
    },
  );
  return digest.digest('hex');
}

function allTexts(
  value: object,
  count: number,
  textAt: (i: number) => string,
): string[] {
  work.left -= VALUE * count;
  if (count < FEW) return Array.from({ length: count }, (_, i) => textAt(i));
  const { texts } = loop(
    TEXTS,
    value,
    { next: 0, texts: [] as string[] },
    count,
    (i, { texts }) => {
      texts.push(textAt(i));
      return true;
    },
  );
  return texts;
}

/** To sort 100,000 texts takes 0.1 s: parts are sorted, then merged. */
function inOrder(value: object, texts: string[]): readonly string[] {
  if (texts.length < MANY) return texts.sort();
  const { rows } = loop(
    ORDER,
    value,
    {
      next: 0,
      rows: [] as string[][],
      merged: [] as string[],
      from: [0, 0] as [number, number],
    },
    Number.POSITIVE_INFINITY,
    (i, state) => {
      work.left -= MANY * 20;
      if (i * MANY < texts.length)
        state.rows.push(texts.slice(i * MANY, (i + 1) * MANY).sort());
      else merge(state);
      return state.rows.length > 1 || (i + 1) * MANY < texts.length;
    },
  );
  return rows[0]!;
}

/**
 * The next `MANY` texts of the first two rows, which in the end become one row behind the others.
 */
function merge(state: {
  rows: string[][];
  merged: string[];
  from: [number, number];
}): void {
  const { rows, merged } = state;
  const [a, b] = rows as [string[], string[]];
  let [i, j] = state.from;
  for (let count = 0; count < MANY && (i < a.length || j < b.length); count++) {
    if (j === b.length || (i < a.length && a[i]! <= b[j]!))
      merged.push(a[i++]!);
    else merged.push(b[j++]!);
  }
  state.from = [i, j];
  if (merged.length < a.length + b.length) return;
  state.rows = [...rows.slice(2), merged];
  state.merged = [];
  state.from = [0, 0];
}

/** In linear time; comparing all pairs would be quadratic. */
export function allDifferent(array: readonly unknown[]): boolean {
  const { different } = loop(
    DIFFERENT,
    array,
    { next: 0, seen: new LargeMap<unknown, true>(), different: true },
    array.length,
    (i, state) => {
      const value = canonical(array[i]);
      state.different = !state.seen.has(value);
      state.seen.add(value, true);
      return state.different;
    },
  );
  return different;
}

import { Cache } from '../../common/cache.ts';
import type { RequestEvent } from '../events.ts';
import type { Notes, RequestLogEntry } from './entry.ts';
import { IdList } from './id-list.ts';

/** The allowance of equal refusals, and the milliseconds per further one. */
const AT_ONCE = 10;
const REFILL = 1_000;
/** Sources per code: at least so many, at most twice as many. */
const SOURCES = 200;
/** Per code, from all sources together. */
const MOST_PER_SECOND = 200;

/** A key, or an address without a key. */
interface Source {
  allowance: number;
  /** Unix milliseconds. */
  at: number;
  unkept: number;
  /** Ids of refusals after the last kept one. */
  equals: IdList | null;
}

interface OfCode {
  /** Oldest first. */
  readonly kept: RequestLogEntry[];
  readonly sources: Cache<Source>;
  second: number;
  inSecond: number;
}

/**
 * Two rules keep one flood from displacing other refusals: equal ones (same code, same key or address) are limited to
 * ten at once and then one a second, and the code with the most entries loses its oldest if the log is full.
 */
export class RefusalLog {
  readonly #codes = new Map<string, OfCode>();
  #capacity: number;
  #size = 0;
  #droppedUntil: number | null = null;
  #kept = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The end of the newest dropped one, Unix milliseconds; `null`: none was dropped. */
  get since(): number | null {
    return this.#droppedUntil;
  }

  get upTo(): number {
    return this.#kept;
  }

  use(capacity: number): void {
    this.#capacity = capacity;
    while (this.#size > capacity) this.#dropOne();
  }

  put(event: RequestEvent, address: string, notes: Notes | null, endedAt: number): void {
    if (this.#capacity === 0) return;
    const ofCode = this.#ofCode(event.code ?? `${event.status}`);
    const source = sourceOf(ofCode, event.keyId ?? address, endedAt);
    if (!mayKeep(ofCode, source, endedAt)) {
      source.unkept++;
      source.equals?.add(event.id);
      return;
    }
    if (this.#size === this.#capacity) this.#dropOne();
    const equals = new IdList();
    const number = ++this.#kept;
    ofCode.kept.push({ event: { ...event, address }, notes, endedAt, number, more: source.unkept, equals });
    source.unkept = 0;
    source.equals = equals;
    this.#size++;
  }

  /** Also finds the entry that stands for an equal one. */
  find(id: string): RequestLogEntry | null {
    for (const one of this.newestFirst()) if (one.event.id === id || one.equals?.has(id)) return one;
    return null;
  }

  /** Newest first per code. */
  *newestFirst(code: string | null = null): Iterable<RequestLogEntry> {
    for (const [name, { kept }] of this.#codes) if (code === null || name === code) yield* kept.toReversed();
  }

  /** Newest first, without dropped ones. */
  keptAfter(number: number): RequestLogEntry[] {
    const found = [...this.#codes.values()].flatMap(({ kept }) =>
      kept.slice(kept.findLastIndex((one) => one.number <= number) + 1),
    );
    return found.sort((one, other) => other.number - one.number);
  }

  #ofCode(code: string): OfCode {
    const known = this.#codes.get(code);
    if (known !== undefined) return known;
    const made: OfCode = { kept: [], sources: new Cache<Source>(SOURCES), second: 0, inSecond: 0 };
    this.#codes.set(code, made);
    return made;
  }

  #dropOne(): void {
    let largest: RequestLogEntry[] | null = null;
    for (const { kept } of this.#codes.values()) if (largest === null || kept.length > largest.length) largest = kept;
    const dropped = largest?.shift();
    if (dropped === undefined) return;
    this.#size--;
    this.#droppedUntil = Math.max(this.#droppedUntil ?? 0, dropped.endedAt);
  }
}

function sourceOf({ sources }: OfCode, name: string, now: number): Source {
  const known = sources.get(name);
  if (known !== undefined) return known;
  const made = { allowance: AT_ONCE, at: now, unkept: 0, equals: null };
  sources.set(name, made);
  return made;
}

function mayKeep(ofCode: OfCode, source: Source, now: number): boolean {
  source.allowance = Math.min(AT_ONCE, source.allowance + Math.max(0, now - source.at) / REFILL);
  source.at = now;
  if (source.allowance < 1) return false;
  const second = Math.floor(now / 1_000);
  if (second !== ofCode.second) {
    ofCode.second = second;
    ofCode.inSecond = 0;
  }
  if (ofCode.inSecond === MOST_PER_SECOND) return false;
  ofCode.inSecond++;
  source.allowance--;
  return true;
}

import { type Cache, createCache } from '../../common/cache.ts';
import { type Allowance, hasAllowance, newAllowance } from '../allowance.ts';
import { outcomeCode, type RequestEvent } from '../events.ts';
import { keptEvent, type Notes, type RequestLogEntry } from './view.ts';

/** Sources per code: at least so many, at most twice as many. */
const SOURCES = 200;
/** Per code, from all sources together. */
const MOST_PER_SECOND = 200;

/** Ids of identical refusals per kept one; later ones replace the oldest. */
const MOST_IDS = 128;
const FIRST_IDS = 8;
const ID_LENGTH = 36;

interface Refusal extends RequestLogEntry {
  /** A sequence number. */
  readonly number: number;
  /** Later equal ones that were not kept. */
  readonly equals: IdList;
}

/** A key, or an address without a key. */
interface Source {
  readonly allowance: Allowance;
  unkept: number;
  /** Ids of refusals after the last kept one. */
  equals: IdList | null;
}

interface OfCode {
  /** Oldest first. */
  readonly kept: Refusal[];
  readonly sources: Cache<Source>;
  second: number;
  inSecond: number;
}

/**
 * Two rules keep one flood from displacing other refusals: equal ones (same code, same key or
 * address) are limited to ten at once and then one a second, and the code with the most entries
 * loses its oldest if the log is full.
 */
export function createRefusalLog(initially: number) {
  const codes = new Map<string, OfCode>();
  let capacity = initially;
  let size = 0;
  const log = {
    /** The end of the newest dropped one, Unix milliseconds; 0: none was dropped. */
    since: 0,
    /** The number of the newest kept one. */
    upTo: 0,
    use,
    put,
    find,
    newestFirst,
  };

  function use(next: number): void {
    capacity = next;
    while (size > capacity) dropOne();
  }

  function put(
    event: RequestEvent,
    notes: Notes | null,
    endedAt: number,
  ): void {
    if (capacity === 0) return;
    const ofCode = codeOf(outcomeCode(event) ?? `${event.status}`);
    const source = sourceOf(ofCode, event.keyId ?? event.address, endedAt);
    if (!mayKeep(ofCode, source, endedAt)) {
      source.unkept++;
      source.equals?.add(event.id);
      return;
    }
    const equals = new IdList();
    const number = ++log.upTo;
    ofCode.kept.push({
      event: keptEvent(event),
      notes,
      endedAt,
      number,
      repeated: source.unkept,
      equals,
    });
    source.unkept = 0;
    source.equals = equals;
    if (++size > capacity) dropOne();
  }

  /** Also finds the entry that stands for an equal one. */
  function find(id: string): Refusal | null {
    return (
      newestFirst().find((one) => one.event.id === id || one.equals.has(id)) ??
      null
    );
  }

  /** Those of `code`, or of all codes, whose number is above `after`. */
  function newestFirst(code: string | null = null, after = 0): Refusal[] {
    const lists = code === null ? [...codes.values()] : [codes.get(code)];
    const found = lists.flatMap(
      (ofCode) => ofCode?.kept.filter(({ number }) => number > after) ?? [],
    );
    return found.sort((one, other) => other.number - one.number);
  }

  function codeOf(code: string): OfCode {
    const existing = codes.get(code);
    if (existing !== undefined) return existing;
    const made: OfCode = {
      kept: [],
      sources: createCache<Source>(SOURCES),
      second: 0,
      inSecond: 0,
    };
    codes.set(code, made);
    return made;
  }

  function dropOne(): void {
    const lists = [...codes.values()].map(({ kept }) => kept);
    const most = Math.max(...lists.map(({ length }) => length));
    const [largest] = lists
      .filter(({ length }) => length === most)
      .sort(([one], [other]) => one!.number - other!.number);
    const dropped = largest!.shift()!;
    size--;
    log.since = Math.max(log.since, dropped.endedAt);
  }

  return log;
}

function sourceOf({ sources }: OfCode, name: string, now: number): Source {
  const existing = sources.get(name);
  if (existing !== undefined) return existing;
  const made = { allowance: newAllowance(now), unkept: 0, equals: null };
  sources.set(name, made);
  return made;
}

function mayKeep(ofCode: OfCode, source: Source, now: number): boolean {
  if (!hasAllowance(source.allowance, now)) return false;
  const second = Math.floor(now / 1_000);
  if (second !== ofCode.second) {
    ofCode.second = second;
    ofCode.inSecond = 0;
  }
  if (ofCode.inSecond === MOST_PER_SECOND) return false;
  ofCode.inSecond++;
  source.allowance.remaining--;
  return true;
}

/** One buffer, because strings would survive young collections. */
class IdList {
  #bytes = Buffer.alloc(0);
  #count = 0;

  add(id: string): void {
    const at = (this.#count++ % MOST_IDS) * ID_LENGTH;
    if (at === this.#bytes.length)
      this.#bytes = Buffer.concat(
        [this.#bytes],
        Math.max(FIRST_IDS * ID_LENGTH, at * 2),
      );
    this.#bytes.write(id, at, ID_LENGTH, 'latin1');
  }

  has(id: string): boolean {
    return id.length === ID_LENGTH && this.#bytes.includes(id, 0, 'latin1');
  }
}

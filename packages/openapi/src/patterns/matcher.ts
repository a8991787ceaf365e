import { type Loop, loop, work } from '../schema/pauses.ts';
import { TooLarge } from './automaton.ts';
import { type Bits, createSteps, isEmpty, type Place } from './steps.ts';
import { type Look, type Term, termsIn } from './syntax.ts';

/** The facts about each place of a text: which look-arounds match there, a bit each. */
type Facts = Uint8Array | Int32Array;

interface State {
  readonly bits: Bits;
  /** Whether a match ended before the character that led here. */
  accepts: boolean;
  hopeless: boolean;
  /** The facts that `next` depends on. */
  readonly asks: number;
  /** By kind of character; with `asks`, by facts before. */
  readonly next: State[];
  readonly nextByFacts: Map<number, State[]>;
}

interface Way {
  state: State;
  at: number;
  ended: boolean;
  found: boolean;
}

interface Reading extends Loop {
  /** The number of the scan. */
  scan: number;
  facts: Facts;
  way: Way;
}

/** In characters. A longer text is read in steps. */
const LONG = 1000;
const STEP = 16 * 1024;

/** A step that is not remembered takes as long as this number of characters. */
const COST_OF_STEP = 200;

const MAX_LOOKS = 32;
const NO_FACTS = new Uint8Array();

/**
 * Of all known states. Above this number the states are forgotten, which costs time but no memory.
 */
const MAX_ENTRIES = 16_384;
const ENTRIES_OF_STATE = 16;

/** As many characters pay for a new state; a client whose texts always need new ones gets none. */
const PRICE = 16;
const MAX_CREDIT = 100_000;

/** Reads a text once for the pattern, and once for each look-around in it. */
export function createMatcher(term: Term) {
  const facts = new Map<Look, number>();
  const looks = [...looksIn(term)].map((look, i) => {
    if (i === MAX_LOOKS) throw new TooLarge();
    const scan = look.behind
      ? createScan(look.body, false, facts)
      : createScan(shortest(look.body), true, facts);
    facts.set(look, 1 << i);
    return { scan, fact: 1 << i };
  });
  const scans = [
    ...looks,
    { scan: createScan(shortest(term), false, facts), fact: 0 },
  ];
  const Table = looks.length <= 8 ? Uint8Array : Int32Array;

  const begin = (text: string): Reading => ({
    next: 0,
    scan: 0,
    facts: looks.length === 0 ? NO_FACTS : new Table(text.length + 1),
    way: scans[0]!.scan.begin(text),
  });

  /** Whether there is more to read. */
  function proceed(reading: Reading, text: string, most: number): boolean {
    const { scan, fact } = scans[reading.scan]!;
    scan.run(reading.way, text, reading.facts, fact, most);
    if (!reading.way.ended) return true;
    reading.scan++;
    if (reading.scan < scans.length)
      reading.way = scans[reading.scan]!.scan.begin(text);
    else reading.facts = NO_FACTS;
    return reading.scan < scans.length;
  }

  function readLong(text: string): Reading {
    return loop(
      scans,
      text,
      begin(text),
      Number.POSITIVE_INFINITY,
      (_, reading) => {
        work.left -= STEP;
        return proceed(reading, text, STEP);
      },
    );
  }

  return {
    test(text: string): boolean {
      if (text.length > LONG) return readLong(text).way.found;
      const reading = begin(text);
      while (proceed(reading, text, Number.POSITIVE_INFINITY));
      return reading.way.found;
    },
  };
}

/** Each after those inside it. */
function looksIn(term: Term): Set<Look> {
  const looks = [...termsIn(term)].map((part) =>
    part.kind === 'look' ? part.look : null,
  );
  return new Set(looks.filter((look) => look !== null).reverse());
}

/** Matches at the same places; its matches end as early as possible. */
function shortest(term: Term): Term {
  if (term.kind === 'repeat') return { ...term, most: term.least };
  if (term.kind === 'choice')
    return { kind: 'choice', options: term.options.map(shortest) };
  const last = term.kind === 'sequence' ? term.parts.at(-1) : undefined;
  return term.kind === 'sequence' && last
    ? { ...term, parts: [...term.parts.slice(0, -1), shortest(last)] }
    : term;
}

/**
 * A pass over a text. States of `Steps` are remembered, so that most characters cost a look-up.
 *
 * @throws TooLarge
 */
function createScan(
  term: Term,
  backward: boolean,
  facts: ReadonlyMap<Look, number>,
) {
  const { alphabet, start, take, asks } = createSteps(term, backward, facts);
  const first = stateOf(start, asks(start));
  const existing = new Map<string, State>();
  /** States that are not remembered, in turns. */
  const passing = [stateOf(start.slice(), 0), stateOf(start.slice(), 0)];
  let entries = 0;
  let credit = MAX_CREDIT;

  function begin(text: string): Way {
    credit = Math.min(credit + text.length, MAX_CREDIT);
    return {
      state: first,
      at: backward ? text.length : 0,
      ended: false,
      found: false,
    };
  }

  /**
   * Adds `fact` to the facts about places where a match ends; without `fact`, ends at the first.
   */
  function run(
    way: Way,
    text: string,
    facts: Facts,
    fact: number,
    most: number,
  ): void {
    const end = backward ? 0 : text.length;
    let { state, at } = way;
    for (let remaining = most; remaining > 0 && !way.ended; remaining--) {
      const place = at;
      let kind = alphabet.end;
      if (at !== end) {
        const character = backward
          ? codePointBefore(text, at)
          : text.codePointAt(at)!;
        const size = character > 0xffff ? 2 : 1;
        at += backward ? -size : size;
        kind = alphabet.kindOf(character);
      }
      const next =
        state.asks === 0
          ? state.next
          : nextFor(state, facts[place]! & state.asks);
      const existing = next[kind];
      if (!existing) remaining -= COST_OF_STEP;
      state =
        existing ??
        learn(state, next, {
          kind,
          first: state === first,
          facts: facts[place]!,
        });
      if (state.accepts) {
        way.found = true;
        if (fact !== 0) facts[place]! |= fact;
      }
      way.ended =
        place === end || state.hopeless || (state.accepts && fact === 0);
    }
    way.at = at;
    way.state = passing.includes(state)
      ? stateOf(state.bits.slice(), asks(state.bits))
      : state;
  }

  function learn(state: State, nextByKind: State[], place: Place): State {
    const to = passing.find((passing) => passing !== state)!;
    to.accepts = take(state.bits, place, to.bits);
    to.hopeless = isEmpty(to.bits);
    if (credit < PRICE) return to;
    credit -= PRICE;
    if (entries > MAX_ENTRIES) forget();
    const next = remembered(to);
    nextByKind[place.kind] = next;
    if (state.asks !== 0) entries += alphabet.end;
    return next;
  }

  function remembered({ bits, accepts, hopeless }: State): State {
    const name = `${accepts}${String.fromCharCode(...new Uint16Array(bits.buffer))}`;
    let state = existing.get(name);
    if (!state) {
      state = { ...stateOf(bits.slice(), asks(bits)), accepts, hopeless };
      existing.set(name, state);
      entries += ENTRIES_OF_STATE + bits.length + alphabet.end;
    }
    return state;
  }

  function forget(): void {
    for (const state of [first, ...existing.values()]) {
      state.next.length = 0;
      state.nextByFacts.clear();
    }
    existing.clear();
    entries = 0;
  }

  return { begin, run };
}

function stateOf(bits: Bits, asks: number): State {
  return {
    bits,
    accepts: false,
    hopeless: false,
    asks,
    next: [],
    nextByFacts: new Map(),
  };
}

function nextFor({ nextByFacts }: State, facts: number): State[] {
  let next = nextByFacts.get(facts);
  if (!next) {
    next = [];
    nextByFacts.set(facts, next);
  }
  return next;
}

function codePointBefore(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  if (end < 2 || (unit & 0xfc00) !== 0xdc00) return unit;
  const character = text.codePointAt(end - 2)!;
  return character > 0xffff ? character : unit;
}

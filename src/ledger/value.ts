import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { MINUTE } from '../common/time.ts';
import { NotPacked, Packing, Unpacking } from '../observe/traffic/packing.ts';
import { partIn, SPANS, sumIn } from './names.ts';

const FORMAT = 2;

/** Bytes below which compression gains nothing; of an unpacked part; of the largest section. */
const SMALL = 256;
const CHUNK = 1 << 16;
const MOST_BYTES = 1 << 28;

/** What a process contributed. Times are Unix milliseconds of its clock. */
export interface Source {
  readonly since: number;
  readonly until: number;
  /** It does not store minutes with lower numbers again. */
  readonly open: number;
  /** Whether it has stopped, and nothing follows. */
  readonly ended: boolean;
  /** Requests that could not be stored. */
  readonly dropped: number;
  /** Requests of its busiest second: a process that is killed lacks about as many at most. */
  readonly most: number;
}

/** By process. */
export type Sources = Readonly<Record<string, Source>>;

/** Policies during an outage of the shared state. */
export const POLICIES = ['local', 'deny', 'allow'] as const;

export interface Head {
  /** Unix milliseconds. */
  readonly start: number;
  /** Milliseconds. */
  readonly span: number;
  /** A bit for each of POLICIES that decided. */
  readonly policies: number;
  readonly sources: Sources;
}

export interface Content {
  readonly traffic: Uint8Array;
  readonly uses: Uint8Array;
  /** Rows in parts, so that readers can pause. */
  readonly usage: readonly Uint8Array[];
}

export const NO_CONTENT: Content = {
  traffic: Buffer.of(),
  uses: Buffer.of(),
  usage: [],
};

/** What was counted in a span of time: a part of the minute of a process, or a sum. */
export interface Value extends Head {
  /** Unpacked when asked for. */
  readonly read: (section: 'traffic' | 'uses') => Uint8Array;
  /** Rows, in parts. Unpacking one takes at most some milliseconds. */
  readonly usage: () => Iterable<Uint8Array>;
}

/** `compress`: sums, which are kept. */
export function packValue(
  head: Head,
  { traffic, uses, usage }: Content,
  { compress = false } = {},
): Buffer {
  const body = new Packing();
  body.part(Buffer.from(JSON.stringify(head)));
  for (const bytes of [traffic, uses, ...usage]) {
    const isCompressed = compress && bytes.length >= SMALL;
    body.number(Number(isCompressed));
    body.part(isCompressed ? deflateRawSync(bytes, { level: 1 }) : bytes);
  }
  const packing = new Packing();
  packing.number(FORMAT);
  packing.number(crc32(body.bytes));
  packing.part(body.bytes);
  return packing.bytes;
}

type Packed = readonly [isCompressed: number, bytes: Uint8Array];

/** Throws NotPacked, and SyntaxError. */
export function valueIn(bytes: Uint8Array): Value {
  const whole = new Unpacking(bytes);
  const format = whole.number();
  if (format !== FORMAT) throw new NotPacked(`its format is ${format}`);
  const checksum = whole.number();
  const body = whole.part();
  if (crc32(body) !== checksum || !whole.isAtEnd)
    throw new NotPacked('its checksum differs');
  const unpacking = new Unpacking(body);
  const head = JSON.parse(unpacking.text()) as Head;
  const sections: Packed[] = [];
  while (!unpacking.isAtEnd)
    sections.push([unpacking.number(), unpacking.part()]);
  const [traffic, uses, ...usage] = sections;
  if (!traffic || !uses) throw new NotPacked('a section is missing');
  return {
    ...head,
    read: (section) => opened({ traffic, uses }[section]),
    usage: () => usage.values().map(opened),
  };
}

/** Throws errors of zlib. */
function opened([isCompressed, bytes]: Packed): Uint8Array {
  return isCompressed === 1
    ? inflateRawSync(bytes, { chunkSize: CHUNK, maxOutputLength: MOST_BYTES })
    : bytes;
}

/** What is stored under the name of a part or a sum. A damaged one is reported to `damaged`. */
export function valueUnder(
  name: string,
  bytes: Uint8Array | null,
  damaged: (damage: string) => void,
): Value {
  try {
    if (bytes === null) throw new NotPacked('it is missing');
    return valueIn(bytes);
  } catch (error) {
    if (!(error instanceof NotPacked || error instanceof SyntaxError))
      throw error;
    damaged(`the usage ${name} is damaged: ${error.message}`);
    const sum = sumIn(name);
    return sum === null
      ? damagedValue(partIn(name)!.minute, MINUTE)
      : damagedValue(sum.start, SPANS[sum.kind]);
  }
}

/** In place of a damaged value: says that something is missing, also in sums. */
function damagedValue(start: number, span: number): Value {
  const source = {
    since: start,
    until: start + span,
    open: 0,
    ended: true,
    dropped: 1,
    most: 0,
  };
  const head = {
    start,
    span,
    policies: 0,
    sources: { 'damaged value#': source },
  };
  return valueIn(packValue(head, NO_CONTENT));
}

/** Sums of what is missing, and the newest of the rest. */
export function joinSources(all: Iterable<Sources>): Sources {
  const joined: Record<string, Source> = {};
  for (const sources of all) {
    for (const [process, source] of Object.entries(sources)) {
      const existing = joined[process];
      joined[process] =
        existing === undefined ? source : joinSource(existing, source);
    }
  }
  return joined;
}

const joinSource = (one: Source, other: Source): Source => ({
  since: Math.min(one.since, other.since),
  until: Math.max(one.until, other.until),
  open: Math.max(one.open, other.open),
  ended: one.ended || other.ended,
  dropped: one.dropped + other.dropped,
  most: Math.max(one.most, other.most),
});

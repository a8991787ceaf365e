import { crc32, deflateRaw, inflateRaw, inflateRawSync } from 'node:zlib';
import { NotPacked, Packing, Unpacking } from '../observe/traffic/packing.ts';

const FORMAT = 1;

/** Bytes below which compression gains nothing. */
const SMALL = 256;

/** What a process contributed. Times are Unix milliseconds of its clock. */
export interface Source {
  /** Of its newest slice: slices up to this number are in the block. */
  readonly number: number;
  readonly since: number;
  readonly until: number;
  /** Whether it has stopped, and nothing follows. */
  readonly ended: boolean;
  /** Requests of slices that could not be stored. */
  readonly dropped: number;
  /** Requests of its busiest second: a process that is killed lacks about as many at most. */
  readonly most: number;
}

export type Sources = Readonly<Record<string, Source>>;

/** Policies during an outage of the shared state. */
export const POLICIES = ['local', 'deny', 'allow'] as const;

export interface BlockHead {
  /** Unix milliseconds. */
  readonly start: number;
  /** Milliseconds. */
  readonly span: number;
  /** A bit for each of POLICIES that decided. */
  readonly policies: number;
  /** By process. */
  readonly sources: Sources;
}

export const SECTIONS = ['traffic', 'usage', 'uses'] as const;
export type Section = (typeof SECTIONS)[number];

/** What was counted in a span of time: an immutable value. */
export interface Block extends BlockHead {
  /** Unpacked when asked for. */
  readonly read: (section: Section) => Promise<Uint8Array>;
}

type Sections = Readonly<Record<Section, Uint8Array>>;

/** Without compression, and at once. */
export function packBlock(head: BlockHead, sections: Sections): Buffer {
  return packed(
    head,
    SECTIONS.map((name) => [0, sections[name]] as const),
  );
}

/** Large sections are compressed in the thread pool. */
export async function compressBlock(
  head: BlockHead,
  sections: Sections,
): Promise<Buffer> {
  const all = SECTIONS.map(async (name) => {
    const bytes = sections[name];
    return bytes.length < SMALL
      ? ([0, bytes] as const)
      : ([1, await deflated(bytes)] as const);
  });
  return packed(head, await Promise.all(all));
}

function packed(
  head: BlockHead,
  sections: readonly (readonly [number, Uint8Array])[],
): Buffer {
  const body = new Packing();
  body.part(Buffer.from(JSON.stringify(head)));
  for (const [isCompressed, bytes] of sections) {
    body.number(isCompressed);
    body.part(bytes);
  }
  const packing = new Packing();
  packing.number(FORMAT);
  packing.number(crc32(body.bytes));
  packing.part(body.bytes);
  return packing.bytes;
}

/** One block after the other. Throws NotPacked. */
export function blocksIn(bytes: Uint8Array): Block[] {
  return [...bodiesIn(bytes)].map((body) => {
    const { head, parts } = partsOf(body);
    return {
      ...head,
      async read(name) {
        const [isCompressed, part] = parts[name];
        return isCompressed ? await inflated(part) : part;
      },
    };
  });
}

/** Bytes of a section that is unpacked at once. */
const MOST_BYTES = 1 << 28;

/** Blocks with their sections, to check them. Throws NotPacked, and errors of JSON and of zlib. */
export function* unpackedBlocks(
  bytes: Uint8Array,
): Generator<{ readonly head: unknown; readonly sections: Sections }> {
  for (const body of bodiesIn(bytes)) {
    const { head, parts } = partsOf(body);
    const sections = SECTIONS.map((name) => {
      const [isCompressed, part] = parts[name];
      return [
        name,
        isCompressed
          ? inflateRawSync(part, { maxOutputLength: MOST_BYTES })
          : part,
      ];
    });
    yield { head, sections: Object.fromEntries(sections) as Sections };
  }
}

function* bodiesIn(bytes: Uint8Array): Generator<Unpacking> {
  const packed = new Unpacking(bytes);
  while (!packed.isAtEnd) {
    const format = packed.number();
    if (format !== FORMAT) throw new NotPacked(`its format is ${format}`);
    const checksum = packed.number();
    const body = packed.part();
    if (crc32(body) !== checksum) throw new NotPacked('its checksum differs');
    yield new Unpacking(body);
  }
}

function partsOf(body: Unpacking) {
  const head = JSON.parse(body.text()) as BlockHead;
  const parts = SECTIONS.map((name) => [
    name,
    [body.number() === 1, body.part()] as const,
  ]);
  return {
    head,
    parts: Object.fromEntries(parts) as Record<
      Section,
      readonly [isCompressed: boolean, bytes: Uint8Array]
    >,
  };
}

/** Replaces a damaged block and marks sums as incomplete. */
export function damagedBlock(start: number, span: number): Block {
  const source = {
    number: 0,
    since: start,
    until: start + span,
    ended: true,
    dropped: 1,
    most: 0,
  };
  const read = async () => Buffer.of();
  return {
    start,
    span,
    policies: 0,
    sources: { 'damaged block#': source },
    read,
  };
}

/** Newest numbers, and the sum of what is missing. */
export function joinSources(all: Iterable<Sources>): Sources {
  const joined: Record<string, Source> = {};
  for (const sources of all) {
    for (const [process, source] of Object.entries(sources)) {
      const known = joined[process];
      joined[process] =
        known === undefined ? source : joinSource(known, source);
    }
  }
  return joined;
}

function joinSource(one: Source, other: Source): Source {
  const newest = other.number > one.number ? other : one;
  return {
    number: newest.number,
    since: Math.min(one.since, other.since),
    until: Math.max(one.until, other.until),
    ended: newest.ended,
    dropped: one.dropped + other.dropped,
    most: Math.max(one.most, other.most),
  };
}

// Not promisified at import: tests replace these functions.
const deflated = (bytes: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    deflateRaw(bytes, { level: 1 }, (error, found) =>
      error ? reject(error) : resolve(found),
    ),
  );

const inflated = (bytes: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    inflateRaw(bytes, (error, found) =>
      error ? reject(error) : resolve(found),
    ),
  );

import { crc32, inflateRawSync } from 'node:zlib';
import { HOUR, MINUTE } from '../../common/time.ts';
import type { MovedUsage } from '../../ledger/moved-usage.ts';
import { partName, startOf, sumIn, sumName } from '../../ledger/names.ts';
import {
  DURATION_BUCKETS,
  packAllRows,
  UsageTable,
} from '../../ledger/usage-table.ts';
import {
  type Content,
  type Head,
  packValue,
  type Source,
} from '../../ledger/value.ts';
import { Unpacking } from '../../observe/traffic/packing.ts';

/** Of a file of format 2. `number`: slices of the process up to it are in the block. */
interface EarlierHead extends Omit<Head, 'sources'> {
  readonly sources: Readonly<
    Record<string, Omit<Source, 'open'> & { readonly number: number }>
  >;
}

interface Block {
  readonly head: EarlierHead;
  readonly content: Content;
}

interface Slice extends Block {
  readonly minute: number;
  readonly number: number;
  readonly process: string;
}

/**
 * Usage of a file of format 2: blocks of minutes, hours and days, and slices, some of which blocks
 * contain. Minutes and slices wait for the hours that may contain them.
 */
export class EarlierUsage {
  readonly #hours = new Map<number, EarlierHead>();
  readonly #minutes = new Map<number, Block>();
  readonly #slices: Slice[] = [];

  /** Returns it in today's form, as far as what was read before decides it. Throws errors of its parts. */
  add({ name, bytes }: MovedUsage): MovedUsage[] {
    const blocks = blocksIn(Buffer.from(bytes, 'base64'));
    const [kind] = name;
    if (kind === 'x') return sumIn(name) ? blocks.map(pendingOf(name)) : [];
    if (kind === 't') return blocks.map((block) => sumOf('t', block));
    if (kind === 'd') return blocks.map((block) => sumOf('d', block));
    for (const block of blocks) {
      const { start } = block.head;
      if (kind === 'h') this.#hours.set(start, block.head);
      else if (kind === 'm') this.#minutes.set(start, block);
      else this.#slices.push({ ...block, ...sliceIn(name) });
    }
    return kind === 'h' ? blocks.map((block) => sumOf('h', block)) : [];
  }

  /** What no hour contains. */
  rest(): MovedUsage[] {
    const minutes = this.#minutes
      .values()
      .filter(({ head }) => !this.#hours.has(startOf(head.start, HOUR)));
    const slices = this.#slices.filter((slice) => !this.#contains(slice));
    return [
      ...minutes.map((block) => sumOf('m', block)),
      ...slices.map(partOf),
    ];
  }

  #contains({ minute, process, number }: Slice): boolean {
    const head =
      this.#hours.get(startOf(minute, HOUR)) ?? this.#minutes.get(minute)?.head;
    return number <= (head?.sources[process]?.number ?? 0);
  }
}

function sumOf(kind: 'm' | 't' | 'h' | 'd', block: Block): MovedUsage {
  const bytes = packed(block);
  return moved(sumName(kind, block.head.start, bytes), bytes);
}

const pendingOf = (name: string) => (block: Block) =>
  moved(name, packed(block));

const partOf = ({ minute, number, process, ...block }: Slice): MovedUsage =>
  moved(partName({ minute, number, part: 0, process }), packed(block));

const moved = (name: string, bytes: Buffer): MovedUsage => ({
  name,
  bytes: bytes.toString('base64'),
});

function packed({ head, content }: Block): Buffer {
  const sources = Object.entries(head.sources).map(
    ([process, { number: _number, ...source }]) =>
      [process, { open: 0, ...source }] as const,
  );
  const today = { ...head, sources: Object.fromEntries(sources) };
  return packValue(today, content, { compress: true });
}

function sliceIn(name: string): Omit<Slice, keyof Block> {
  const [minute, number, ...process] = name.split('/');
  return {
    minute: Number(minute) * MINUTE,
    number: Number(number),
    process: process.join('/'),
  };
}

function blocksIn(bytes: Uint8Array): Block[] {
  const blocks: Block[] = [];
  for (const all = new Unpacking(bytes); !all.isAtEnd; ) {
    const [format, checksum, body] = [all.number(), all.number(), all.part()];
    if (format !== 1 || crc32(body) !== checksum)
      throw new Error('its checksum differs');
    const block = new Unpacking(body);
    const head = JSON.parse(block.text()) as EarlierHead;
    const section = () =>
      block.number() === 1 ? inflateRawSync(block.part()) : block.part();
    const [traffic, usage, uses] = [section(), section(), section()];
    blocks.push({ head, content: { traffic, uses, usage: rowsIn(usage) } });
  }
  return blocks;
}

function rowsIn(usage: Uint8Array): Uint8Array[] {
  if (usage.length === 0) return [];
  const packed = new Unpacking(usage);
  const list = () => JSON.parse(packed.text());
  const [clients, operations, outcomes] = [list(), list(), list()];
  const table = new UsageTable();
  const { names } = table;
  while (!packed.isAtEnd) {
    const row = table.row(
      names.client(clients[packed.number()]),
      names.operation(operations[packed.number()]),
      names.outcome(outcomes[packed.number()]),
    );
    // A bit for each number that is not 0: requests by duration, then marked ones.
    const mask = packed.number();
    const [marked = 0, ...rest] = Array.from(
      { length: DURATION_BUCKETS + 1 },
      (_, i) => ((mask & (1 << i)) === 0 ? 0 : packed.number()),
    ).reverse();
    table.add(row, {
      requests: rest.reverse(),
      marked,
      last: packed.number(),
      units: packed.number(),
      received: packed.number(),
      sent: packed.number(),
    });
  }
  return [...packAllRows(table)];
}

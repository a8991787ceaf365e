import { setImmediate } from 'node:timers/promises';
import {
  type Block,
  type BlockHead,
  compressBlock,
  joinSources,
  type Section,
  type Sources,
} from './block.ts';
import { mergeTraffic, packTraffic, TrafficTable } from './traffic.ts';
import { packUsage, UsageTable, unpackUsage } from './usage-table.ts';
import { UsesTables } from './uses.ts';

const EMPTY = Buffer.of();

/** Adds blocks up to one. Other work gets its turn after every thousand rows. */
export class BlockSum {
  readonly #head: Pick<BlockHead, 'start' | 'span'>;
  readonly #sections: ReadonlySet<Section>;
  readonly #traffic = new TrafficTable();
  readonly #usage = new UsageTable();
  readonly #uses = new UsesTables();
  #policies = 0;
  #sources: Sources = {};

  constructor(
    head: Pick<BlockHead, 'start' | 'span'>,
    sections: readonly Section[],
  ) {
    this.#head = head;
    this.#sections = new Set(sections);
  }

  /** Whether no request is in it. */
  get isEmpty(): boolean {
    return this.#usage.size === 0;
  }

  get sources(): Sources {
    return this.#sources;
  }

  /** Throws NotPacked, perhaps with a part added. */
  async add(block: Block): Promise<void> {
    if (this.#has('traffic'))
      mergeTraffic(this.#traffic, await block.read('traffic'));
    if (this.#has('usage')) await this.#addUsage(await block.read('usage'));
    if (this.#has('uses')) this.#uses.add(await block.read('uses'));
    this.#policies |= block.policies;
    this.#sources = joinSources([this.#sources, block.sources]);
    await setImmediate();
  }

  async pack(): Promise<Buffer> {
    const head = {
      ...this.#head,
      policies: this.#policies,
      sources: this.#sources,
    };
    return await compressBlock(head, {
      traffic: this.#has('traffic') ? packTraffic(this.#traffic) : EMPTY,
      usage: this.#has('usage') ? await this.#packUsage() : EMPTY,
      uses: this.#has('uses') ? this.#uses.pack() : EMPTY,
    });
  }

  #has(section: Section): boolean {
    return this.#sections.has(section);
  }

  async #addUsage(bytes: Uint8Array): Promise<void> {
    const usage = this.#usage;
    const adding = unpackUsage(bytes, (names) => {
      const clients = names.clients.map((client) => usage.client(client));
      const operations = names.operations.map((name) => usage.operation(name));
      const outcomes = names.outcomes.map((outcome) => usage.outcome(outcome));
      return (row) => {
        const place = usage.row(
          clients[row.client]!,
          operations[row.operation]!,
          outcomes[row.outcome]!,
        );
        usage.add(place, row);
      };
    });
    for (const _ of adding) await setImmediate();
  }

  async #packUsage(): Promise<Buffer> {
    const packing = packUsage(this.#usage);
    let packed = packing.next();
    for (; !packed.done; packed = packing.next()) await setImmediate();
    return packed.value;
  }
}

import { setImmediate } from 'node:timers/promises';
import { mergeTraffic, packTraffic, TrafficTable } from './traffic.ts';
import { addRows, packAllRows, UsageTable } from './usage-table.ts';
import { UsesTables } from './uses.ts';
import {
  type Head,
  joinSources,
  NO_CONTENT,
  packValue,
  type Sources,
  type Value,
} from './value.ts';

type Section = 'traffic' | 'usage' | 'uses';

/** Adds values up to one. Other work gets its turn after every part. */
export class ValueSum {
  readonly #head: Pick<Head, 'start' | 'span'>;
  readonly #sections: readonly Section[];
  readonly #traffic = new TrafficTable();
  readonly #usage = new UsageTable();
  readonly #uses = new UsesTables();
  #policies = 0;
  #sources: Sources = {};

  constructor(
    head: Pick<Head, 'start' | 'span'>,
    sections: readonly Section[],
  ) {
    this.#head = head;
    this.#sections = sections;
  }

  /** Whether no request is in it. */
  get isEmpty(): boolean {
    return this.#usage.size === 0;
  }

  /** Throws NotPacked, and errors of JSON, perhaps with a part added. */
  async add(value: Value): Promise<void> {
    if (this.#has('traffic'))
      mergeTraffic(this.#traffic, value.read('traffic'));
    if (this.#has('uses')) this.#uses.add(value.read('uses'));
    if (this.#has('usage'))
      for (const part of value.usage()) {
        addRows(this.#usage, part);
        await setImmediate();
      }
    this.#policies |= value.policies;
    this.#sources = joinSources([this.#sources, value.sources]);
    await setImmediate();
  }

  async pack(): Promise<Buffer> {
    const head = {
      ...this.#head,
      policies: this.#policies,
      sources: this.#sources,
    };
    const usage: Uint8Array[] = [];
    for (const part of packAllRows(this.#usage)) {
      usage.push(part);
      await setImmediate();
    }
    const content = {
      usage,
      traffic: this.#has('traffic')
        ? packTraffic(this.#traffic)
        : NO_CONTENT.traffic,
      uses: this.#has('uses') ? this.#uses.pack() : NO_CONTENT.uses,
    };
    return packValue(head, content, { compress: true });
  }

  #has(section: Section): boolean {
    return this.#sections.includes(section);
  }
}

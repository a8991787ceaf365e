import { setImmediate } from 'node:timers/promises';
import { createTrafficTable, mergeTraffic, packTraffic } from './traffic.ts';
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
export function createValueSum(
  head: Pick<Head, 'start' | 'span'>,
  sections: readonly Section[],
) {
  const traffic = createTrafficTable();
  const usage = new UsageTable();
  const uses = new UsesTables();
  let policies = 0;
  let sources: Sources = {};

  function has(section: Section): boolean {
    return sections.includes(section);
  }

  return {
    /** Whether no request is in it. */
    get isEmpty(): boolean {
      return usage.size === 0;
    },
    /** Throws NotPacked, and errors of JSON, perhaps with a part added. */
    async add(value: Value): Promise<void> {
      if (has('traffic')) mergeTraffic(traffic, value.read('traffic'));
      if (has('uses')) uses.add(value.read('uses'));
      if (has('usage'))
        for (const part of value.usage()) {
          addRows(usage, part);
          await setImmediate();
        }
      policies |= value.policies;
      sources = joinSources([sources, value.sources]);
      await setImmediate();
    },
    async pack(): Promise<Buffer> {
      const whole = {
        ...head,
        policies,
        sources,
      };
      const parts: Uint8Array[] = [];
      for (const part of packAllRows(usage)) {
        parts.push(part);
        await setImmediate();
      }
      const content = {
        usage: parts,
        traffic: has('traffic') ? packTraffic(traffic) : NO_CONTENT.traffic,
        uses: has('uses') ? uses.pack() : NO_CONTENT.uses,
      };
      return packValue(whole, content, { compress: true });
    },
  };
}

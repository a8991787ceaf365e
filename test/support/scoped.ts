import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { shippedFiles } from '../../src/config/load.ts';

/** The shipped contract with limits of these operations and tags (`x-ratelimit`), and with costs of operations. */
export function contractWith({
  operations = {},
  tags = {},
  costs = {},
}: {
  readonly operations?: Readonly<Record<string, unknown>>;
  readonly tags?: Readonly<Record<string, unknown>>;
  readonly costs?: Readonly<Record<string, number>>;
}): string {
  const root = parse(readFileSync(shippedFiles.contract, 'utf8'));
  for (const item of Object.values<Record<string, Record<string, unknown>>>(root.paths)) {
    for (const operation of Object.values(item)) {
      const id = operation.operationId as string | undefined;
      if (id === undefined) continue;
      if (Object.hasOwn(operations, id)) operation['x-ratelimit'] = operations[id];
      if (Object.hasOwn(costs, id)) operation['x-ratelimit-cost'] = costs[id];
    }
  }
  for (const tag of root.tags) if (Object.hasOwn(tags, tag.name)) tag['x-ratelimit'] = tags[tag.name];
  return stringify(root, { aliasDuplicateObjects: false });
}

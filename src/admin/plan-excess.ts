import { DAY, HOUR, MINUTE } from '../common/time.ts';
import type { ExcessSum } from '../ledger/excess-table.ts';
import { readLedger } from '../ledger/read.ts';
import { UsesTables } from '../ledger/uses.ts';
import { refuses } from '../limits/admission.ts';
import type { Plan } from '../limits/plans.ts';
import type { AdminContext } from './context.ts';

/**
 * What the windows of a plan that do not refuse had no room for in the last day; `null`: all of its
 * windows refuse.
 */
export async function excessOfLastDay(
  context: AdminContext,
  now: number,
  { name, windows }: Plan,
): Promise<ExcessSum[] | null> {
  const { scoped = [] } = context.plans();
  if ([...(windows ?? []), ...scoped].every(refuses)) return null;
  const uses = new UsesTables();
  const from = Math.floor((now - DAY) / HOUR) * HOUR;
  await readLedger(context.ledger(), {
    now,
    from,
    blocks: (reader) => reader.blocks({ from, to: now + MINUTE }, 'hour'),
    each: async (block) => uses.add(await block.read('uses')),
  });
  return uses.excess.sums(name);
}

import type { ExcessSum } from '../ledger/excess-table.ts';
import { UsesTables } from '../ledger/uses.ts';
import { refuses } from '../limits/admission.ts';
import type { Plan } from '../limits/plans.ts';
import type { AdminContext } from './context.ts';
import { readLastDay } from './ledger.ts';

/**
 * The excess of the windows of a plan that do not refuse, in the last day; `null`: all of its
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
  await readLastDay(context, now, async (value) =>
    uses.add(value.read('uses')),
  );
  return uses.excess.sums(name);
}

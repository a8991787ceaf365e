import { Outage } from '../errors/outage.ts';
import { LedgerError } from '../state/state.ts';
import { type AdminAnswer, ok } from './call.ts';
import { time } from './shown.ts';

/** The answer that `ask` makes, or while the state is away that of what is known here, with the time that it is from. */
export async function orLastKnown<K extends { readonly asOf: number }, Body extends object>(
  ask: () => Promise<Body>,
  known: (() => K | null) | undefined,
  show: (known: K) => Promise<Body>,
): Promise<AdminAnswer<Body & { readonly asOf?: string }>> {
  try {
    return ok(await ask());
  } catch (error) {
    const isAway = error instanceof Outage && !(error.cause instanceof LedgerError);
    const last = (isAway && known?.()) || null;
    if (last === null) throw error;
    return ok({ ...(await show(last)), asOf: time(last.asOf) });
  }
}

import { Outage } from '../errors/outage.ts';
import { CountersError } from '../state/state.ts';
import { type AdminAnswer, ok } from './call.ts';
import { time } from './view.ts';

/** The answer that `ask` makes, or while the state is away that of what is known here, with the time that it is from. */
export async function orLastKnown<K extends { readonly asOf: number }, Body extends object>(
  ask: () => Promise<Body>,
  known: (() => K | null) | undefined,
  show: (known: K) => Promise<Body>,
): Promise<AdminAnswer<Body & { readonly asOf?: string }>> {
  try {
    return ok(await ask());
  } catch (error) {
    const isAway = error instanceof Outage && !(error.cause instanceof CountersError);
    const last = (isAway && known?.()) || null;
    if (last === null) throw error;
    return ok({ ...(await show(last)), asOf: time(last.asOf) });
  }
}

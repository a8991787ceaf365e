import { Outage } from '../errors/outage.ts';
import { CountersError } from '../state/state.ts';
import { type AdminAnswer, ok } from './call.ts';
import { time } from './view.ts';

/** During an outage of the state returns the local copy with its time. */
export async function orLastKnown<K extends { readonly asOf: number }, Body extends object>(
  ask: () => Promise<Body>,
  known: (() => K | null) | undefined,
  show: (known: K) => Promise<Body>,
): Promise<AdminAnswer<Body & { readonly asOf?: string }>> {
  try {
    return ok(await ask());
  } catch (error) {
    const isDown = error instanceof Outage && !(error.cause instanceof CountersError);
    const last = (isDown && known?.()) || null;
    if (last === null) throw error;
    return ok({ ...(await show(last)), asOf: time(last.asOf) });
  }
}

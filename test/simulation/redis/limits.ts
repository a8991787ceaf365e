import type { Limits } from '../../../src/limits/limits.ts';
import { packLimits } from '../../../src/state/redis/packing.ts';

/** The borders of calendar windows change with time. */
const BORDERS = /,\[[\d,]+\]/g;
const NONE: Limits = { windows: [], escalation: null };

/**
 * Finds limits by their packed form, which the twin of Redis receives. So the twin knows nothing
 * about that form, and equal limits of several gateways are one object.
 */
export class KnownLimits {
  readonly #byText = new Map<string, Limits>([[nameOf(['', '[]', '']), NONE]]);

  learn(limits: Limits): void {
    const name = nameOf(packLimits(limits));
    if (!this.#byText.has(name)) this.#byText.set(name, limits);
  }

  /** The limits whose packed form begins at `at` in the arguments of a script. */
  in(args: readonly string[], at: number): Limits {
    const [ids, windows, escalation] = args.slice(at, at + 3);
    const name = nameOf([ids!, windows!.replace(BORDERS, ''), escalation!]);
    const existing = this.#byText.get(name);
    if (!existing) throw new Error(`the simulation did not learn the limits ${name}`);
    return existing;
  }
}

function nameOf(packed: readonly string[]): string {
  return JSON.stringify(packed);
}

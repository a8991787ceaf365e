import type { Code } from '../../errors/catalogue.ts';
import { Refusal } from '../../errors/refusals.ts';

/** Reasons are few, so a flood allocates nothing. */
export class KnownRefusals {
  readonly #code: Code;
  readonly #byReason = new Map<string, Refusal>();

  constructor(code: Code) {
    this.#code = code;
  }

  because(reason: string | null): Refusal | null {
    if (reason === null) return null;
    let refusal = this.#byReason.get(reason);
    if (refusal === undefined) {
      refusal = new Refusal(this.#code, { reason });
      this.#byReason.set(reason, refusal);
    }
    return refusal;
  }
}

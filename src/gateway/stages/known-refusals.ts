import { type Code, Refusal } from '../../errors/refusals.ts';

/** One refusal for each reason, of which there are no more than entries in lists of addresses: a flood of one network makes no more. */
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

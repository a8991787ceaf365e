/** The subjects that an act reaches, as far as the page knows them. */
export interface BanTarget {
  /** The id of a key or the name of an account. */
  readonly party: string;
  /** As the middle of a sentence: `key_1`, `all keys of acme on plan team (they are counted as one)`. */
  readonly words: string;
}

interface Counted {
  readonly key: string | null;
  readonly account: string;
  readonly plan: string | null;
}

const asOne = ({ account, plan }: Counted) =>
  plan === null ? `all keys of ${account}` : `all keys of ${account} on plan ${plan} (counted together)`;

/** `counted`: the counters that the party stands for. A key of a plan that counts accounts stands for all keys of its account. */
export function banTargetOf(party: string, counted: readonly Counted[]): BanTarget {
  const [first] = counted;
  if (counted.length === 1 && first) return { party, words: first.key ?? asOne(first) };
  return {
    party,
    words: counted.length === 0 ? party : `all keys of ${party} (${counted.length} counters)`,
  };
}

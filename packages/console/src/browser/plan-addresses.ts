// Where keys of a plan may be used from. Pure words: the command line says the same (cli/differences.ts).

/** `allow`: with entries, only from there. `deny`: from nowhere in it. */
export interface PlanAddresses {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** More are only counted. */
const MOST_NAMED = 5;

/** `from 10.0.0.0/8, but not from 10.1.0.0/16`. */
export function addressesInWords(addresses: PlanAddresses | null): string {
  if (addresses === null) return 'from anywhere';
  const { allow, deny } = addresses;
  const from = allow.length === 0 ? 'from anywhere' : `from ${named(allow)}`;
  return deny.length === 0 ? from : `${from}, but not from ${named(deny)}`;
}

function named(blocks: readonly string[]): string {
  const first = blocks.slice(0, MOST_NAMED).join(' ');
  return blocks.length > MOST_NAMED ? `${first} and ${blocks.length - MOST_NAMED} more` : first;
}

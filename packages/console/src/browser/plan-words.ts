import type { BansDiff, Ladder, PlanAddresses, PlanLimits } from '../admin-api.ts';

// Plans in words, for the console and the command line.

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

/** `60/minute, 20 in flight, from 10.0.0.0/8`; `null`: there is no such plan. */
export function planInWords(plan: PlanLimits | null): string | null {
  if (plan === null) return null;
  const { limits, concurrency, count, weight, addresses } = plan;
  return [
    limits ?? 'custom',
    concurrency === null ? '' : `, ${concurrency} in flight`,
    count === 'key' ? '' : ` for each ${count}`,
    weight === 1 ? '' : `, weight ${weight}`,
    addresses === null ? '' : `, ${addressesInWords(addresses)}`,
  ].join('');
}

/** The rules of bans that differ. */
export function bansThatDiffer({ inForce, inFiles }: BansDiff) {
  const words = (ladder: Ladder | null, name: string) => {
    const value: unknown = Object(ladder)[name];
    return value === undefined ? null : Array.isArray(value) ? value.join(', ') : String(value);
  };
  return Object.keys({ ...inForce, ...inFiles })
    .map((name) => ({ name, inForce: words(inForce, name), inFiles: words(inFiles, name) }))
    .filter((row) => row.inForce !== row.inFiles);
}

import type { HttpLimits } from '../../config/config.ts';

/** A company, or subscribers that share an address. */
const SHARED_ADDRESS = 256;

type PerAddress = Pick<
  HttpLimits,
  'maxConnections' | 'maxConnectionsPerAddress'
>;

/** `auto`: a tenth of all, at least NEIGHBOURS, at most half of all. */
export function mostPerAddress({
  maxConnections,
  maxConnectionsPerAddress,
}: PerAddress): number {
  if (maxConnectionsPerAddress !== 'auto') return maxConnectionsPerAddress;
  return Math.min(
    Math.max(Math.ceil(maxConnections / 10), SHARED_ADDRESS),
    Math.ceil(maxConnections / 2),
  );
}

/**
 * The rank of a network. `newcomer`: it holds no connection, or is a trusted proxy. `small`: less than half
 * of the average. `known`: one of its connections had a valid key. In this order they enter.
 */
export const RANKS = ['newcomer', 'small', 'known', 'large'] as const;

export type Rank = (typeof RANKS)[number];

/** Numbers of open connections. */
interface Levels {
  /** From here it finds no place. */
  readonly full: Readonly<Record<Rank, number>>;
  /** Above this, idle connections end. */
  readonly roomy: number;
  /** They end down to this, so that one search frees many places. */
  readonly made: number;
  /** So many may wait for the next search. The last two can enter ten times a second. */
  readonly waiting: Readonly<Record<Rank, number>>;
}

const FEW = 64;

/** A tenth is kept from large networks without a key, half of that for newcomers. */
export function levelsOf(maxConnections: number): Levels {
  const kept = Math.floor(maxConnections / 10);
  const batch = Math.ceil(maxConnections / 100);
  const large = maxConnections - kept;
  const small = maxConnections - Math.floor(kept / 2);
  const many = Math.max(FEW, kept);
  const some = Math.max(FEW, 2 * batch);
  return {
    full: { newcomer: maxConnections, small, known: small, large },
    roomy: large - batch,
    made: large - 2 * batch,
    waiting: { newcomer: many, small: many, known: some, large: some },
  };
}

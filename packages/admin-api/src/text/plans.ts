import type {
  BanEscalation,
  Plan,
  PlanAddresses,
  PlanExcess,
  PlanLimits,
} from '../generated/types.ts';
import { plural } from './format.ts';
import { limitsText } from './limits.ts';

// Plans in words, for the console and the command line.

/** The number of address blocks shown. */
const MAX_BLOCKS = 5;

/** `from 10.0.0.0/8, except 10.1.0.0/16`. */
export function addressesText(addresses: PlanAddresses | null): string {
  if (addresses === null) return 'from any address';
  const { allow, deny } = addresses;
  const from = allow.length === 0 ? 'from any address' : `from ${named(allow)}`;
  return deny.length === 0 ? from : `${from}, except ${named(deny)}`;
}

function named(blocks: readonly string[]): string {
  const first = blocks.slice(0, MAX_BLOCKS).join(' ');
  return blocks.length > MAX_BLOCKS
    ? `${first} and ${blocks.length - MAX_BLOCKS} more`
    : first;
}

export const inFlight = ({
  concurrency,
}: Pick<PlanLimits, 'concurrency'>): string =>
  concurrency === null ? 'any number at once' : `${concurrency} at once`;

/** `60 per minute, 20 in flight, from 10.0.0.0/8`; `null`: the plan does not exist. */
export function planText(plan: PlanLimits | null): string | null {
  if (plan === null) return null;
  const { limits, concurrency, count, weight, workers, addresses } = plan;
  return [
    limits === null ? 'custom' : limitsText(limits),
    concurrency === null ? '' : `, ${concurrency} in flight`,
    count === 'key' ? '' : ` per ${count}`,
    weight === 1 ? '' : `, weight ${weight}`,
    workers === null ? '' : `, ${plural(workers, 'worker')} per key`,
    addresses === null ? '' : `, ${addressesText(addresses)}`,
  ].join('');
}

/** Refusals of one wait that are not strikes, unless the plan sets their number. */
export const freeRefusalsText = ({
  workers,
  minWorkers,
}: Pick<BanEscalation, 'workers' | 'minWorkers'>): string =>
  workers === minWorkers
    ? plural(workers, 'refusal')
    : `as many refusals as the limit has units, ${minWorkers} to ${workers},`;

interface CountedExcess extends Pick<Plan, 'count'> {
  readonly excess?: Plan['excess'] | undefined;
}

/** What windows that do not refuse admitted above their limits in the last day. */
export function excessesText({ excess = [], count }: CountedExcess): string[] {
  return excess.map((one) => excessSentence(one, count));
}

function excessSentence(
  { window, excess, requests, units, subjects }: PlanExcess,
  count: Plan['count'],
): string {
  const who = `of ${plural(subjects, count)} in the last day`;
  return excess === 'watch'
    ? `${window} would have refused ${plural(requests, 'request')} ${who}.`
    : `${window} admitted ${plural(units, 'unit')} above its limit, ${plural(requests, 'request')} ${who}.`;
}

import type { BanEntry, BanRecord } from '../generated/types.ts';
import { plural } from './format.ts';
import type { WriteTime } from './gateways.ts';

// Bans in words, for the console and the command line.

const ACTIONS: Readonly<Record<string, string>> = {
  'bans.start': 'banned',
  'bans.add': 'banned',
  'bans.extend': 'extended',
  'bans.lift': 'lifted',
};

/** The actor of automatic bans. */
const AUTOMATIC = 'storegate';

export const authorText = (actor: string): string =>
  actor === AUTOMATIC ? 'automatic' : actor;

/** `banned`, `extended`, `lifted`, `failed: lifted`. */
export function actionText(action: string): string {
  const label = ACTIONS[action.replace(/\.failed$/, '')] ?? action;
  return action.endsWith('.failed') ? `failed: ${label}` : label;
}

/** `3 bans in 30 days, last lifted by alice at 2030-01-31T00:00:00Z`. */
export function recordText(
  { bans, lifted: lift }: BanRecord,
  time: WriteTime,
): string {
  const last = lift ? `, last lifted by ${lift.by} at ${time(lift.at)}` : '';
  return `${plural(bans, 'ban')} in 30 days${last}`;
}

/** `expired at 10:20:30`, `lifted by alice at 10:20:30`, `never began`. */
export function endText(
  { how, by, at }: NonNullable<BanEntry['ended']>,
  time: WriteTime,
): string {
  if (how === 'failed') return 'never began';
  return `${how}${by === null || by === AUTOMATIC ? '' : ` by ${by}`} at ${time(at)}`;
}

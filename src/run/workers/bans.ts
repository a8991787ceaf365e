import type { BansAsOf } from '../../state/state.ts';

/** What all workers know of bans. `null`: none of them has had a response of Redis. */
export function bansOfAll(all: readonly (BansAsOf | null)[]): BansAsOf | null {
  const known = all.filter((one) => one !== null);
  if (known.length === 0) return null;
  const last = new Map<string, BansAsOf['bans'][number]>();
  for (const ban of known.flatMap(({ bans }) => bans))
    if (ban.until > (last.get(ban.subject)?.until ?? 0))
      last.set(ban.subject, ban);
  return {
    asOf: Math.min(...known.map(({ asOf }) => asOf)),
    bans: [...last.values()],
  };
}

import { SECOND } from '../../../src/common/time.ts';
import type { OperatorChange, Reply } from '../facts.ts';
import type { MakeInvariant } from './invariant.ts';

/** Milliseconds until a confirmed change holds everywhere, and after an outage. */
const EVERYWHERE = SECOND + 100;
const AFTER_OUTAGE = 2 * SECOND;

/** What excuses a gateway that does not know of a ban, and of a revocation: it reads the log. */
const OF_BANS = ['outage', 'messages', 'pause'] as const;
const OF_KEYS = ['outage', 'pause'] as const;

/**
 * A confirmed revocation or ban holds everywhere after a second, or two seconds after an outage
 * ended.
 */
export const propagation: MakeInvariant = ({ simulation, disturbances }) => {
  const revoked = new Map<string, number>();
  const bans = new Map<string, { readonly since: number; readonly until: number }>();

  function note({ step, key, at, error }: OperatorChange): void {
    if (step.type === 'revoke' && error === null) revoked.set(key.id, at);
    for (const { id } of step.type === 'revoke' ? [] : simulation.keysBeside(key)) {
      if (step.type === 'ban' && error === null)
        bans.set(id, { since: at, until: at + step.length });
      // An interrupted change may have been made.
      if (step.type === 'lift' || (step.type === 'ban' && error !== null)) bans.delete(id);
    }
  }

  /** Whether the gateway may not know of a change at `at`, when it was asked. */
  function mayNotKnow(
    { gateway, sentAt, respondedAt }: Reply,
    at: number,
    kinds: typeof OF_BANS | typeof OF_KEYS,
  ): boolean {
    if (sentAt < at + EVERYWHERE) return true;
    const isLost = disturbances.between(at - 3 * SECOND, respondedAt, ['loss', 'clock']).length > 0;
    return (
      isLost || disturbances.between(sentAt - AFTER_OUTAGE, respondedAt, kinds, gateway).length > 0
    );
  }

  return {
    name: 'a confirmed change holds everywhere',
    observe(fact) {
      if (fact.type === 'change') note(fact.change);
      if (fact.type !== 'answer' || fact.answer.status !== 200 || fact.answer.key === null)
        return null;
      const { answer: response } = fact;
      const revokedAt = revoked.get(response.key!.id);
      if (revokedAt !== undefined && !mayNotKnow(response, revokedAt, OF_KEYS))
        return `a refusal: the key was revoked ${seconds(response.sentAt - revokedAt)} before`;
      const ban = bans.get(response.key!.id);
      if (
        ban &&
        response.respondedAt < ban.until - SECOND &&
        !mayNotKnow(response, ban.since, OF_BANS)
      )
        return `a refusal: an operator banned the key ${seconds(response.sentAt - ban.since)} before`;
      return null;
    },
  };
};

const seconds = (duration: number): string => `${(duration / 1_000).toFixed(1)} s`;

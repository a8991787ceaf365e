import type { Bans, UsageList } from '@storegate/admin-api';
import { number } from '@storegate/admin-api/text';
import { h } from 'preact';
import { call } from '../api/client.ts';
import { clockTime } from '../format.ts';
import { type Action, textIn } from '../parts/action.ts';
import { Choice, DurationField, Field } from '../parts/fields.ts';

/** The subjects that an act reaches, as far as the page knows them. */
export interface BanTarget {
  /** The id of a key or the name of an account. */
  readonly subject: string;
  /**
   * As the middle of a sentence: `key_1`, `all keys of acme on plan team (they are counted as
   * one)`.
   */
  readonly text: string;
}

interface Counted {
  readonly key: string | null;
  readonly account: string;
  readonly plan: string | null;
}

const asOne = ({ account, plan }: Counted) =>
  plan === null
    ? `all keys of ${account}`
    : `all keys of ${account} on plan ${plan} (counted together)`;

/**
 * `counted`: the counters that the subject stands for. A key of a plan that counts accounts stands
 * for all keys of its account.
 */
export function banTargetOf(
  subject: string,
  counted: readonly Counted[],
): BanTarget {
  const [first, ...more] = counted;
  if (!first) return { subject, text: subject };
  const text = first.key ?? asOne(first);
  return {
    subject,
    text:
      more.length === 0
        ? text
        : `all keys of ${subject} (${counted.length} counters)`,
  };
}

function endText({ bans }: Bans): string {
  const [ban] = bans;
  if (bans.length !== 1 || !ban)
    return `${bans.length} keys or accounts are banned.`;
  const next =
    ban.nextDuration === null
      ? ''
      : ` The next ban would last ${ban.nextDuration}.`;
  return `${ban.key ?? ban.account} is banned until ${clockTime(ban.until)}.${next}`;
}

/** What bans and extensions share: a duration and a reason. */
const durationAction = (
  label: string,
  operation: 'addBan' | 'extendBan',
  subject: string,
) => ({
  dangerous: true,
  needsReason: true,
  fields: h(DurationField, {
    label,
    name: 'length',
    required: true,
    examples: '30m, 2h or 30d',
    placeholder: '2h',
    note: 'For example 30m, 2h or 30d.',
  }),
  async run(form: FormData, reason: string) {
    const body = { duration: textIn(form, 'length'), reason };
    return endText(
      await call(operation, { params: { subject }, body, reason }),
    );
  },
});

export const banAction = ({ subject, text }: BanTarget): Action => ({
  title: `Ban ${subject}`,
  verb: 'Ban',
  effect: `Refuses every request of ${text} with 403. Raises the ban level by one, or replaces a current ban. Clients see the end of the ban, not the reason.`,
  ...durationAction('Duration', 'addBan', subject),
});

export const extendAction = (
  { subject, text }: BanTarget,
  until: string | null,
): Action => ({
  title: `Extend the ban of ${subject}`,
  verb: 'Extend',
  effect: `Moves the end of the ban of ${text}${until === null ? '' : `, which ends ${clockTime(until)} now,`} by this duration. The ban level stays.`,
  ...durationAction('Extension', 'extendBan', subject),
});

export const liftAction = ({ subject, text }: BanTarget): Action => ({
  title: `Lift the ban of ${subject}`,
  verb: 'Lift ban',
  effect: `Ends a ban of ${text} at once and resets all counters, strikes and the ban level.`,
  async run(_form, reason) {
    const response = await call('liftBan', {
      params: { subject },
      reason,
    });
    return `The ban of ${subject} is lifted. ${remainingText(response)}`;
  },
});

/** `windows`: the names of those that there are. */
export const grantAction = (
  { subject, text }: BanTarget,
  windows: readonly string[],
): Action => ({
  title: `Grant units to ${subject}`,
  verb: 'Grant units',
  effect: `Refunds units to ${text} in the current windows (at most the amount used). Limits, strikes and a ban are kept.`,
  fields: [
    h(Field, {
      label: 'Units',
      name: 'units',
      type: 'number',
      min: 1,
      max: 1_000_000_000,
      required: true,
    }),
    h(Choice, {
      label: 'Window',
      name: 'window',
      options: [
        ['', 'all windows'],
        ...windows.map((name) => [name, name] as const),
      ],
    }),
  ],
  async run(form, reason) {
    const units = Number(form.get('units'));
    const window = textIn(form, 'window');
    const body = { units, ...(window && { window }) };
    const response = await call('grantUsage', {
      params: { subject },
      body,
      reason,
    });
    return `Up to ${number(units)} units were refunded in ${window || 'each window'}. ${remainingText(response)}`;
  },
});

export const resetAction = ({ subject, text }: BanTarget): Action => ({
  title: `Reset the windows of ${subject}`,
  verb: 'Reset windows',
  effect: `Resets all counters of ${text}. Strikes and a ban are kept; lifting a ban ends those too.`,
  async run(_form, reason) {
    const response = await call('resetUsage', {
      params: { subject },
      reason,
    });
    return `Counters were reset. ${remainingText(response)}`;
  },
});

/** What is left in every window after a change, and a ban that stays, in sentences. */
function remainingText({ usage }: UsageList): string {
  const sentences = usage.map(({ key, account, plan, windows, banned }) => {
    const remaining = windows.map(
      ({ name, limit, remaining, used }) =>
        `${number(remaining)} of ${number(limit)} in ${name}${
          used > limit ? ` (${number(used)} used)` : ''
        }`,
    );
    const who = usage.length === 1 ? 'Left' : `${key ?? account} (${plan})`;
    const ban =
      banned === null
        ? ''
        : ` Still banned until ${clockTime(banned)}: lift the ban to end it.`;
    return `${who}: ${remaining.join(', ')}.${ban}`;
  });
  return sentences.join(' ');
}

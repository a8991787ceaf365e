import { h } from 'preact';
import type { Bans, UsageList } from '../../admin-api.ts';
import { call } from '../api/client.ts';
import { clockTime, number } from '../format.ts';
import type { Act } from '../parts/act.ts';
import { Choice, Field } from '../parts/fields.ts';

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

const text = (form: FormData, name: string) => String(form.get(name) ?? '').trim();

function lengthField(label: string) {
  return h(Field, {
    label,
    name: 'length',
    required: true,
    pattern: '(0|[1-9][0-9]{0,8})(ms|s|m|h|d)',
    title: 'A number with a unit, for example 30m, 2h or 30d.',
    placeholder: '2h',
    note: 'For example 30m, 2h or 30d.',
  });
}

async function endText(sent: Promise<Bans>, done: () => void): Promise<string> {
  const { bans } = await sent;
  done();
  const [ban] = bans;
  if (bans.length !== 1 || !ban) return `${bans.length} keys or accounts are banned.`;
  const next = ban.nextDuration === null ? '' : ` The next ban would last ${ban.nextDuration}.`;
  return `${ban.key ?? ban.account} is banned until ${clockTime(ban.until)}.${next}`;
}

/** `done` is called afterwards: the shown data is out of date then. */
export function banAct({ party, words }: BanTarget, done: () => void): Act {
  return {
    title: `Ban ${party}`,
    verb: 'Ban',
    dangerous: true,
    needsReason: true,
    effect: `Refuses every request of ${words} with 403. Replaces a current ban, and raises the ban level by one. Clients see the end of the ban, not the reason.`,
    fields: lengthField('Duration'),
    run: (form, reason) =>
      endText(
        call('PUT', `/bans/${encodeURIComponent(party)}`, { body: { duration: text(form, 'length'), reason }, reason }),
        done,
      ),
  };
}

export function extendAct({ party, words }: BanTarget, until: string | null, done: () => void): Act {
  const now = until === null ? '' : `, which ends ${clockTime(until)} now,`;
  return {
    title: `Extend the ban of ${party}`,
    verb: 'Extend',
    dangerous: true,
    needsReason: true,
    effect: `Moves the end of the ban of ${words}${now} by this duration. The ban level rises by one.`,
    fields: lengthField('Extension'),
    run: (form, reason) =>
      endText(
        call('POST', `/bans/${encodeURIComponent(party)}/extend`, {
          body: { duration: text(form, 'length'), reason },
          reason,
        }),
        done,
      ),
  };
}

export function liftAct({ party, words }: BanTarget, done: () => void): Act {
  return {
    title: `Lift the ban of ${party}`,
    verb: 'Lift ban',
    effect: `Ends a ban of ${words} at once and resets all counters, strikes and the ban level.`,
    run: async (_form, reason) => {
      const answer = await call('DELETE', `/bans/${encodeURIComponent(party)}`, { reason });
      done();
      return `The ban of ${party} is lifted. ${remainingText(answer)}`;
    },
  };
}

/** `windows`: the names of those that there are. */
export function grantAct({ party, words }: BanTarget, windows: readonly string[], done: () => void): Act {
  return {
    title: `Grant units to ${party}`,
    verb: 'Grant units',
    effect: `Refunds units to ${words} in the current windows (at most the amount used). Limits, strikes and a ban are kept.`,
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
        options: [['', 'all windows'], ...windows.map((name) => [name, name] as const)],
      }),
    ],
    run: async (form, reason) => {
      const units = Number(form.get('units'));
      const window = String(form.get('window') ?? '');
      const answer = await call('POST', `/usage/${encodeURIComponent(party)}/grant`, {
        body: { units, ...(window && { window }) },
        reason,
      });
      done();
      return `Up to ${number(units)} units were refunded in ${window || 'each window'}. ${remainingText(answer)}`;
    },
  };
}

export function resetAct({ party, words }: BanTarget, done: () => void): Act {
  return {
    title: `Reset the windows of ${party}`,
    verb: 'Reset windows',
    effect: `Resets all counters of ${words}. Strikes and a ban are kept; lifting a ban ends those too.`,
    run: async (_form, reason) => {
      const answer = await call('POST', `/usage/${encodeURIComponent(party)}/reset`, { reason });
      done();
      return `Counters were reset. ${remainingText(answer)}`;
    },
  };
}

/** What is left in every window after a change, and a ban that stays, in sentences. */
export function remainingText({ usage }: UsageList): string {
  const sentences = usage.map(({ key, account, plan, windows, banned }) => {
    const left = windows.map(({ name, limit, remaining }) => `${number(remaining)} of ${number(limit)} in ${name}`);
    const who = usage.length === 1 ? 'Left' : `${key ?? account} (${plan})`;
    const ban = banned === null ? '' : ` Still banned until ${clockTime(banned)}: lift the ban to end it.`;
    return `${who}: ${left.join(', ')}.${ban}`;
  });
  return sentences.join(' ');
}

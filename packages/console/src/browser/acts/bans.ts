import { h } from 'preact';
import type { Bans } from '../../admin-api.ts';
import { call } from '../api/client.ts';
import { clockTime } from '../format.ts';
import type { Act } from '../parts/act.ts';
import { Field } from '../parts/fields.ts';
import type { BanTarget } from './ban-target.ts';
import { remainingText } from './remaining.ts';

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

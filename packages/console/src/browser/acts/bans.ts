import { h } from 'preact';
import type { Ban } from '../../admin-api.ts';
import { call, path } from '../api/client.ts';
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
    title: 'A number with a unit, such as 30m, 2h or 30d.',
    placeholder: '2h',
    note: 'Such as 30m, 2h or 30d.',
  });
}

async function endText(sent: Promise<unknown>, done: () => void): Promise<string> {
  const { bans } = (await sent) as { bans: readonly Ban[] };
  done();
  const [ban] = bans;
  if (bans.length !== 1 || !ban) return `${bans.length} are banned.`;
  const next = ban.next === null ? '' : ` The next ban of the ladder would last ${ban.next}.`;
  return `${ban.key ?? ban.account} is banned until ${clockTime(ban.until)}.${next}`;
}

/** `done` is called when it was done: what is shown is no longer true. */
export function banAct({ party, words }: BanTarget, done: () => void): Act {
  return {
    title: `Ban ${party}`,
    verb: 'Ban',
    dangerous: true,
    needsReason: true,
    effect: `From now on every request of ${words} is refused with 403, until the ban ends. A ban in force is replaced. It counts on the ladder as every ban does, so the next one of the ladder is longer. Callers are told when it ends, and not why.`,
    fields: lengthField('For how long'),
    run: (form, reason) =>
      endText(call('PUT', path`/bans/${party}`, { body: { length: text(form, 'length'), reason }, reason }), done),
  };
}

export function extendAct({ party, words }: BanTarget, until: string | null, done: () => void): Act {
  const now = until === null ? '' : `, which ends ${clockTime(until)} now,`;
  return {
    title: `Extend the ban of ${party}`,
    verb: 'Extend',
    dangerous: true,
    needsReason: true,
    effect: `The ban of ${words}${now} ends so much later. It counts on the ladder as one more ban.`,
    fields: lengthField('How much longer'),
    run: (form, reason) =>
      endText(
        call('POST', path`/bans/${party}/extend`, { body: { length: text(form, 'length'), reason }, reason }),
        done,
      ),
  };
}

export function pardonAct({ party, words }: BanTarget, done: () => void): Act {
  return {
    title: `Pardon ${party}`,
    verb: 'Pardon',
    effect: `A ban of ${words} ends at once, and all windows open afresh, as if nothing had been used of them. Strikes and earlier bans are forgotten: the next ban of the ladder is the shortest again.`,
    run: async (_form, reason) => {
      const answer = await call('DELETE', path`/bans/${party}`, { reason });
      done();
      return `${party} is pardoned. ${remainingText(answer)}`;
    },
  };
}

import { h } from 'preact';
import { call } from '../api/client.ts';
import { number } from '../format.ts';
import type { Act } from '../parts/act.ts';
import { Choice, Field } from '../parts/fields.ts';
import type { BanTarget } from './ban-target.ts';
import { remainingText } from './remaining.ts';

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

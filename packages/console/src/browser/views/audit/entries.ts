import { h } from 'preact';
import type { Entry } from '../../../admin-api.ts';
import { number } from '../../format.ts';
import { ClientLink } from '../../parts/client-link.ts';
import { Badge } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { Time } from '../../parts/time.ts';
import { linkTo } from '../../routing.ts';
import { type FieldChange, inWords, whatChanged } from './changes.ts';

export function Entries({ entries }: { entries: readonly Entry[] }) {
  return h(Table<Entry>, {
    caption: 'Audit log, newest first',
    rows: entries,
    keyOf: (entry) => entry.number,
    empty: 'No matching entries.',
    toneOf: ({ action }) => (isFailed(action) ? 'bad' : undefined),
    columns: [
      { title: 'No.', figure: true, cell: (entry) => number(entry.number) },
      { title: 'When', cell: ({ at }) => h(Time, { at }) },
      { title: 'Operator', cell: ({ actor }) => h('a', { href: linkTo('audit', '', { actor }) }, actor) },
      { title: 'Did', names: true, cell: ({ action }) => h(Action, { action }) },
      { title: 'To', cell: targetOf },
      { title: 'Reason', cell: ({ reason }) => h('span', { class: 'reason' }, reason ?? '–') },
      { title: 'What changed', cell: (entry) => h(Changes, { entry }) },
    ],
  });
}

const isFailed = (action: string) => action.endsWith('.failed');

/** An entry `….failed` takes back the one before it. */
function Action({ action }: { action: string }) {
  if (!isFailed(action)) return h('code', null, action);
  return [h('code', null, action.replace(/\.failed$/, '')), ' ', h(Badge, { tone: 'bad' }, 'could not be made')];
}

/** Where more about a target is. Accounts have no action of their own: bans, usage and keys are about parties. */
function targetOf({ action, target }: Entry) {
  const [kind] = action.split('.');
  if (kind === 'plans') return h('a', { href: linkTo('plans', target) }, target);
  if (kind === 'config') return h('a', { href: linkTo('configuration') }, target);
  const isParty = (kind === 'keys' && target.startsWith('key_')) || kind === 'bans' || kind === 'usage';
  return isParty ? h(ClientLink, { who: target }) : target;
}

/** The first changes as a line, and all of them, with the id of the request, where one opens it. */
function Changes({ entry }: { entry: Entry }) {
  const changes = whatChanged(entry.before, entry.after);
  return h('details', { class: 'changes' }, [
    h('summary', null, inWords(entry, changes)),
    changes.length > 0 && h(FieldChanges, { changes }),
    h('p', null, 'Request ', h('code', null, entry.requestId)),
  ]);
}

function FieldChanges({ changes }: { changes: readonly FieldChange[] }) {
  return h(
    'dl',
    { class: 'facts' },
    changes.flatMap(({ name, before, after }) => [
      h('dt', { key: `${name} name` }, name),
      h('dd', { key: name }, [
        before !== undefined && [h('del', null, before), ' → '],
        after === undefined ? 'gone' : h('ins', null, after),
      ]),
    ]),
  );
}

import type { ConfigDiff, Reload as Reloaded } from '@storegate/admin-api';
import {
  contractCopyText,
  type Difference,
  differencesIn,
  NO_DIFFERENCE,
} from '@storegate/admin-api/text';
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useCall, useQuery } from '../../api/hooks.ts';
import { clockTime } from '../../format.ts';
import { useActions } from '../../parts/action.ts';
import {
  Badge,
  codeColumn,
  rowHeader,
  Table,
  textColumn,
} from '../../parts/data.ts';
import { Failure, queryView } from '../../parts/view.ts';
import { useMay } from '../../session.ts';

/** What the files say that is not in force, what a reload would make of it, and the reload. */
export function Files({ onReloaded }: { onReloaded: () => void }) {
  const query = useQuery('diffConfig');
  const mayReload = useMay('admin');
  const [reloads, setReloads] = useState(0);

  async function lookAgain() {
    await query.refresh();
    setReloads(reloads + 1);
  }

  function onDone() {
    onReloaded();
    void lookAgain();
  }

  // Whether there is anything to reload is known when the files were compared.
  const hasAny =
    query.error === null &&
    query.value !== null &&
    differencesIn(query.value).length > 0;
  return [
    h(
      'p',
      { class: 'soft' },
      'Reads and validates the files of this gateway, as a reload does. Changes nothing.',
    ),
    // Files that a reload would refuse are shown as the failure: the earlier comparison is out of
    // date.
    queryView(
      query,
      (differences) => query.error === null && h(Different, { differences }),
    ),
    h('div', { class: 'buttons' }, [
      h(
        'button',
        { type: 'button', onClick: lookAgain, disabled: query.loading },
        'Read the files again',
      ),
      mayReload && hasAny && h(Reload, { key: reloads, onDone }),
    ]),
  ];
}

/** Asks what a reload would do before it offers one. */
function Reload({ onDone }: { onDone: () => void }) {
  const { error, run } = useCall();
  const actions = useActions();

  // The files may have changed since they were compared: the plan is computed when it is requested.
  async function plan() {
    const planned = await call('reload', { params: { dryRun: true } });
    actions.open({
      title: 'Reload the configuration',
      effect: reloadText(planned, false),
      verb: 'Reload',
      run: async (_form, reason) =>
        reloadText(await call('reload', { reason }), true),
      after: onDone,
    });
  }

  return [
    h(
      'button',
      { type: 'button', 'aria-haspopup': 'dialog', onClick: () => run(plan) },
      'Reload …',
    ),
    h(Failure, { error }),
    actions.dialog,
  ];
}

/** What a reload has put in force, or would. */
function reloadText(
  { changed, needRestart, contractCopy }: Reloaded,
  isDone: boolean,
) {
  const [nothing, inForce] = isDone
    ? ['Nothing has changed.', 'In force now:']
    : ['No changes.', 'These changes take effect immediately on this gateway:'];
  return [
    changed.length === 0 ? h('p', null, nothing) : namesUnder(inForce, changed),
    needRestart.length > 0 && namesUnder('Restart required:', needRestart),
    contractCopy &&
      h('p', null, contractCopyText('This gateway', contractCopy, clockTime)),
  ];
}

function namesUnder(title: string, names: readonly string[]) {
  const items = names.map((name) =>
    h('li', { key: name }, h('code', null, name)),
  );
  return h('div', null, h('p', null, title), h('ul', null, items));
}

function Different({ differences }: { differences: ConfigDiff }) {
  return h(Table<Difference>, {
    caption: 'Pending changes',
    rows: differencesIn(differences),
    keyOf: ({ type, name }) => `${type} ${name}`,
    empty: NO_DIFFERENCE,
    columns: [
      textColumn('What', 'type'),
      rowHeader(codeColumn('Name', 'name')),
      ['In force', ({ inForce }) => inForce ?? 'missing'],
      ['In the files', ({ inFiles }) => inFiles ?? 'missing'],
      [
        'From',
        ({ source }) => (source === undefined ? '–' : h(Source, { source })),
      ],
      [
        'Takes',
        ({ restart }) =>
          restart ? h(Badge, { tone: 'warn' }, 'a restart') : 'a reload',
      ],
    ],
  });
}

/**
 * `file /config/gateway.yaml:12:5`: the folder is the same nearly everywhere, and stands in the
 * title.
 */
export function Source({ source }: { source: string }) {
  const [, name] = /^file (?:.*[/\\])?([^/\\]+)$/.exec(source) ?? [];
  return h('span', { title: source }, name ?? source);
}

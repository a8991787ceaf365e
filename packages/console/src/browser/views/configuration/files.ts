import { h } from 'preact';
import { useState } from 'preact/hooks';
import type { ConfigDiff, Reload as Reloaded } from '../../../admin-api.ts';
import { call } from '../../api/client.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { useCall } from '../../api/use-call.ts';
import { useActs } from '../../parts/act.ts';
import { Badge, Failure } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { answerView } from '../../parts/view.ts';
import { type Difference, differencesIn, NO_DIFFERENCE } from '../../sentences/differences.ts';
import { useMay } from '../../session.ts';

/** What the files say that is not in force, what a reload would make of it, and the reload. */
export function Files({ onReloaded }: { onReloaded: () => void }) {
  const answer = useAnswer('/config/diff');
  const mayReload = useMay('admin');
  const [reloads, setReloads] = useState(0);

  async function lookAgain() {
    await answer.refresh();
    setReloads(reloads + 1);
  }

  return [
    h('p', { class: 'soft' }, 'Reads and validates the files of this gateway, as a reload does. Changes nothing.'),
    answerView(
      answer, // Files that a reload would refuse are shown as the failure: the earlier comparison is out of date.
      (differences) => answer.error === null && h(Different, { differences }),
    ),
    h('div', { class: 'buttons' }, [
      h('button', { type: 'button', onClick: lookAgain, disabled: answer.loading }, 'Read the files again'),
      mayReload &&
        h(Reload, {
          key: reloads,
          // Whether there is anything to reload is known when the files were compared.
          canBe: answer.error === null && answer.value !== null && differencesIn(answer.value).length > 0,
          onDone: () => {
            onReloaded();
            return lookAgain();
          },
        }),
    ]),
  ];
}

/** Asks what a reload would do before it offers one. */
function Reload({ canBe, onDone }: { canBe: boolean; onDone: () => Promise<void> }) {
  const { error, run } = useCall();
  const acts = useActs();
  if (!canBe) return null;

  // The files may have changed since they were compared: the plan is computed when it is requested.
  async function plan() {
    const planned = await call('POST', '/reload', { query: { dryRun: true } });
    acts.open({
      title: 'Reload the configuration',
      effect: h(WhatReloads, { reloaded: planned, isDone: false }),
      verb: 'Reload',
      async run(_form, reason) {
        return h(WhatReloads, { reloaded: await call('POST', '/reload', { reason }), isDone: true });
      },
      after: () => void onDone(),
    });
  }

  return [
    h('button', { type: 'button', 'aria-haspopup': 'dialog', onClick: () => run(plan) }, 'Reload …'),
    h(Failure, { error }),
    acts.dialog,
  ];
}

/** What a reload has put in force, or would. */
function WhatReloads({ reloaded: { changed, needRestart }, isDone }: { reloaded: Reloaded; isDone: boolean }) {
  const [nothing, inForce] = isDone
    ? ['Nothing has changed.', 'In force now:']
    : ['No changes.', 'These changes take effect immediately on this gateway:'];
  return [
    changed.length === 0 ? h('p', null, nothing) : h('div', null, h('p', null, inForce), h(Names, { names: changed })),
    needRestart.length > 0 && h('div', null, h('p', null, 'Restart required:'), h(Names, { names: needRestart })),
  ];
}

function Names({ names }: { names: readonly string[] }) {
  return h(
    'ul',
    null,
    names.map((name) => h('li', { key: name }, h('code', null, name))),
  );
}

/** All differences in one table. */
function Different({ differences }: { differences: ConfigDiff }) {
  return h(Table<Difference>, {
    caption: 'Pending changes',
    rows: differencesIn(differences),
    keyOf: ({ type, name }) => `${type} ${name}`,
    empty: NO_DIFFERENCE,
    columns: [
      { title: 'What', cell: ({ type }) => type },
      { title: 'Name', names: true, cell: ({ name }) => h('code', null, name) },
      { title: 'In force', cell: ({ inForce }) => inForce ?? 'missing' },
      { title: 'In the files', cell: ({ inFiles }) => inFiles ?? 'missing' },
      { title: 'From', cell: ({ source }) => (source === undefined ? '–' : h(Source, { source })) },
      {
        title: 'Takes',
        cell: ({ restart }) => (restart ? h(Badge, { tone: 'warn' }, 'a restart') : 'a reload'),
      },
    ],
  });
}

/** `file /config/gateway.yaml:12:5`: the folder is the same nearly everywhere, and stands in the title. */
export function Source({ source }: { source: string }) {
  const [, name] = /^file (?:.*[/\\])?([^/\\]+)$/.exec(source) ?? [];
  return h('span', { title: source }, name ?? source);
}

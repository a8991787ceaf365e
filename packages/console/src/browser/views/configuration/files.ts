import { h } from 'preact';
import { useState } from 'preact/hooks';
import type { ConfigDiff, Reload as Reloaded } from '../../../admin-api.ts';
import { ApiError, call } from '../../api/client.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { type Act, ActDialog } from '../../parts/act.ts';
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
          canBe: answer.error === null && answer.value !== null && !isSame(answer.value),
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
  const [error, setError] = useState<ApiError | null>(null);
  const [planned, setPlanned] = useState<Reloaded | null>(null);
  const [isDone, setDone] = useState(false);

  if (!canBe) return null;

  // The files may have changed since they were compared: the plan is computed when it is requested.
  async function plan() {
    setError(null);
    try {
      setPlanned(await call('POST', '/reload', { query: { dryRun: true } }));
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    }
  }

  const act: Act = {
    title: 'Reload the configuration',
    effect: planned && h(WhatReloads, { reloaded: planned, isDone: false }),
    verb: 'Reload',
    async run(_form, reason) {
      const reloaded = await call('POST', '/reload', { reason });
      setDone(true);
      return h(WhatReloads, { reloaded, isDone: true });
    },
  };

  function close() {
    setPlanned(null);
    // The result stays until it is closed, and then there is another question.
    if (isDone) void onDone();
  }

  return [
    h('button', { type: 'button', 'aria-haspopup': 'dialog', onClick: plan }, 'Reload …'),
    h(Failure, { error }),
    planned && h(ActDialog, { act, onClose: close }),
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

export const isSame = (differences: ConfigDiff): boolean => differencesIn(differences).length === 0;

/** All differences in one table. */
export function Different({ differences }: { differences: ConfigDiff }) {
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

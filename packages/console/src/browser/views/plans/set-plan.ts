import { h } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { plural } from '../../format.ts';
import { type Act, ActDialog } from '../../parts/act.ts';
import { inFlight } from '../../sentences/plans.ts';
import { useMay } from '../../session.ts';
import type { SimulatedDraft } from './draft.ts';

/** Puts in force what was tried. */
export function SetPlan({
  tried: { draft, trial },
  onPut,
}: {
  tried: SimulatedDraft;
  onPut: (name: string) => Promise<void>;
}) {
  const [isOpen, setOpen] = useState(false);
  const [isDone, setDone] = useState(false);
  if (!useMay('admin')) return null;
  const { plan, after, keys } = trial;
  const act: Act = {
    title: `Set plan ${plan}`,
    effect: [
      h('p', null, [
        `Plan ${plan} gets `,
        h('code', null, after ?? 'no limits of its own'),
        `, ${inFlight(trial)}, in the plans file. With the next request ${plural(keys, 'key')} would have other limits.`,
      ]),
      h('p', null, 'Usage is kept. Other gateways read their own file.'),
    ],
    verb: 'Apply',
    async run(_form, reason) {
      const put = await call('PUT', `/plans/${encodeURIComponent(plan)}`, { body: draft, reason });
      setDone(true);
      return h('p', null, `Plan ${put.plan} has `, h('code', null, put.after ?? 'no limits of its own'), ' now.');
    },
  };

  function close() {
    setOpen(false);
    // The result stays until it is closed; then the plan is another one.
    if (isDone) void onPut(plan);
  }

  return [
    h('p', null, h('button', { type: 'button', 'aria-haspopup': 'dialog', onClick: () => setOpen(true) }, 'Apply …')),
    isOpen && h(ActDialog, { act, onClose: close }),
  ];
}

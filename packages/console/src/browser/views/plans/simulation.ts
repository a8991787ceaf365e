import type { Plan, PlanSimulation } from '@storegate/admin-api';
import { inFlight, limitsText, plural } from '@storegate/admin-api/text';
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, call } from '../../api/client.ts';
import { useCall } from '../../api/hooks.ts';
import { type Action, useActions } from '../../parts/action.ts';
import { clientLinks } from '../../parts/data.ts';
import { Choice, Field } from '../../parts/fields.ts';
import { Failure, Notice } from '../../parts/view.ts';
import { useMay } from '../../session.ts';
import { draftOf, type SimulatedDraft } from './draft.ts';
import { SimulatedDay } from './simulated-day.ts';

interface SimulationProps {
  /** `null`: a new plan. */
  readonly plan: Plan | null;
  /** Names that a new plan cannot have. */
  readonly taken?: readonly string[] | undefined;
  readonly onPut: (name: string) => Promise<void>;
}

export function Simulation({ plan, taken, onPut }: SimulationProps) {
  const [simulated, setSimulated] = useState<SimulatedDraft | null>(null);
  return [
    h(SimulationForm, { plan, taken, onTried: setSimulated }),
    simulated && [
      h(SimulatedChange, { trial: simulated.trial }),
      h(SimulatedDay, { trial: simulated.trial }),
      h(SetPlan, { tried: simulated, onPut }),
    ],
  ];
}

const ownLimits = (limits: string | null) =>
  limits === null ? 'no limits of its own' : limitsText(limits);

const COUNTS = [
  ['key', 'each key'],
  ['account', 'all keys of an account'],
] as const;

type SimulationFormProps = Omit<SimulationProps, 'onPut'> & {
  readonly onTried: (tried: SimulatedDraft | null) => void;
};

/**
 * The plan as it would be. All of its limits are in one field; those that are taken out of it are
 * dropped.
 */
function SimulationForm({ plan, taken = [], onTried }: SimulationFormProps) {
  const { error, busy, run } = useCall();

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const name = plan?.name ?? String(form.get('name'));
    const draft = {
      ...draftOf(plan, form),
      ...(plan === null && { create: true }),
    };
    onTried(null);
    await run(async () => {
      // The API would change the plan of this name.
      if (taken.includes(name))
        throw new ApiError('conflict', `The plan ${name} exists already.`, 409);
      onTried({
        draft,
        trial: await call('simulatePlan', {
          params: { plan: name },
          body: draft,
        }),
      });
    });
  }

  return h('form', { onSubmit: submit }, [
    h('div', { class: 'filters' }, [
      plan === null &&
        h(Field, {
          label: 'Name',
          name: 'name',
          required: true,
          maxLength: 32,
          spellcheck: false,
        }),
      h(Field, {
        label: 'Limits',
        name: 'limits',
        defaultValue: plan?.limits ?? '',
        placeholder: '60/minute,1000/day',
        spellcheck: false,
      }),
      h(Field, {
        label: 'In flight',
        name: 'concurrency',
        type: 'number',
        min: 1,
        max: 1_000_000,
        defaultValue: plan?.concurrency ?? '',
        placeholder: 'any number',
      }),
      h(Field, {
        label: 'Workers per key',
        name: 'workers',
        type: 'number',
        min: 1,
        max: 1_000_000,
        defaultValue: plan?.workers ?? '',
        placeholder: 'by the limits',
      }),
      h(Choice, {
        label: 'Counts',
        name: 'count',
        options: COUNTS,
        value: plan?.count ?? 'key',
      }),
      h(
        'button',
        { type: 'submit', disabled: busy },
        busy ? 'Simulating …' : 'Simulate',
      ),
    ]),
    h('p', { class: 'soft' }, [
      'For example ',
      h('code', null, '60/minute,1000/day'),
      ' or ',
      h('code', null, '10/10s:sliding'),
      '; empty: set per key or account. A simulation changes nothing.',
    ]),
    h(Failure, { error }),
  ]);
}

/** Of many only the first are named. */
const MOST_NAMED = 20;

function SimulatedChange({ trial }: { trial: PlanSimulation }) {
  const { before, after, keys, overLimit, unusable } = trial;
  return [
    h('h3', null, 'Now'),
    h('p', null, [
      ownLimits(before),
      ' → ',
      ownLimits(after),
      `, ${inFlight(trial)}: ${keys === 0 ? 'no key' : plural(keys, 'key')} would have other limits.`,
    ]),
    overLimit.length > 0 &&
      h(Notice, { tone: 'warn' }, [
        `${plural(overLimit.length, isAccount(overLimit[0]!) ? 'account' : 'key')} would be refused at once: `,
        named(overLimit),
      ]),
    unusable.length > 0 &&
      h(Notice, { tone: 'bad' }, [
        `${plural(unusable.length, 'key')} would have no limits at all and be refused: `,
        named(unusable),
      ]),
    keys > 0 &&
      overLimit.length + unusable.length === 0 &&
      h('p', null, 'No client would be refused at once.'),
  ];
}

const isAccount = (subject: string) => subject.startsWith('account:');

/** A key, or an account where the plan counts accounts: `account:<plan>:<account>`. */
const whoIs = (subject: string) => subject.replace(/^key:|^account:[^:]*:/, '');

function named(subjects: readonly string[]) {
  const more = subjects.length - MOST_NAMED;
  return [
    clientLinks(subjects.slice(0, MOST_NAMED).map(whoIs)),
    more > 0 && ` and ${more} more`,
  ];
}

function SetPlan({
  tried: { draft, trial },
  onPut,
}: { tried: SimulatedDraft } & Pick<SimulationProps, 'onPut'>) {
  const actions = useActions();
  if (!useMay('admin')) return null;
  const { plan, after, keys } = trial;
  const action: Action = {
    title: `Set plan ${plan}`,
    effect: [
      h('p', null, [
        `Plan ${plan} gets `,
        ownLimits(after),
        `, ${inFlight(trial)}, in the plans file. With the next request ${plural(keys, 'key')} would have other limits.`,
      ]),
      h('p', null, 'Usage is kept. Other gateways read their own file.'),
    ],
    verb: 'Apply',
    async run(_form, reason) {
      const put = await call('setPlan', {
        params: { plan },
        body: draft,
        reason,
      });
      return h(
        'p',
        null,
        `Plan ${put.plan} has `,
        ownLimits(put.after),
        ' now.',
      );
    },
    after: () => void onPut(plan),
  };
  return [
    h(
      'p',
      null,
      h(
        'button',
        {
          type: 'button',
          'aria-haspopup': 'dialog',
          onClick: () => actions.open(action),
        },
        'Apply …',
      ),
    ),
    actions.dialog,
  ];
}

import { h } from 'preact';
import { useState } from 'preact/hooks';
import type { Plan } from '../../../admin-api.ts';
import { ApiError, call } from '../../api/client.ts';
import { Choice, Field } from '../../parts/fields.ts';
import { Failure } from '../../parts/notice.ts';
import { draftOf, type SimulatedDraft } from './draft.ts';

const COUNTS = [
  ['key', 'each key'],
  ['account', 'all keys of an account'],
] as const;

interface SimulationFormProps {
  /** `null`: a new plan, with a field for its name. */
  readonly plan: Plan | null;
  readonly taken?: readonly string[] | undefined;
  readonly onTried: (tried: SimulatedDraft | null) => void;
}

/** The plan as it would be. All of its limits are in one field; those that are taken out of it are dropped. */
export function SimulationForm({ plan, taken = [], onTried }: SimulationFormProps) {
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const name = plan?.name ?? String(form.get('name'));
    const draft = draftOf(plan, form);
    setBusy(true);
    setError(null);
    onTried(null);
    try {
      // The API would change the plan of this name.
      if (taken.includes(name)) throw new ApiError('conflict', `The plan ${name} exists already.`, 409);
      onTried({
        draft,
        trial: await call('POST', `/plans/${encodeURIComponent(name)}/simulate`, { body: draft }),
      });
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    } finally {
      setBusy(false);
    }
  }

  return h('form', { onSubmit: submit }, [
    h('div', { class: 'filters' }, [
      plan === null && h(Field, { label: 'Name', name: 'name', required: true, maxLength: 32, spellcheck: false }),
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
      h(Choice, { label: 'Counts', name: 'count', options: COUNTS, value: plan?.count ?? 'key' }),
      h('button', { type: 'submit', disabled: busy }, busy ? 'Simulating …' : 'Simulate'),
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

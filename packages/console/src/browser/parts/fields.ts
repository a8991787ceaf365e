import { type ComponentChildren, h, type JSX } from 'preact';

type InputProps = JSX.IntrinsicElements['input'];

/** A labelled field of a form. `note` says what may be written. */
export function Field({ label, note, ...input }: { label: string; note?: ComponentChildren } & InputProps) {
  return h('label', { class: 'field' }, [
    h('span', null, label),
    h('input', { autoComplete: 'off', ...input }),
    note && h('small', null, note),
  ]);
}

interface ChoiceProps {
  readonly label: string;
  readonly options: readonly (readonly [value: string, word: string])[];
  /** Its name in a form. */
  readonly name?: string;
  /** Chosen at first; with `onChoice` always. */
  readonly value?: string;
  readonly onChoice?: (value: string) => void;
}

/** A choice of a few, each with the word that people read. */
export function Choice({ label, options, name, value, onChoice }: ChoiceProps) {
  return h('label', { class: 'field' }, [
    h('span', null, label),
    h(
      'select',
      { name, onChange: (event: Event) => onChoice?.((event.currentTarget as HTMLSelectElement).value) },
      options.map(([one, word]) => h('option', { key: one, value: one, selected: one === value }, word)),
    ),
  ]);
}

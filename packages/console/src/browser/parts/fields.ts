import { type ComponentChildren, h, type JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

type FieldProps = JSX.IntrinsicElements['input'] & {
  readonly label: string;
  /** What may be written. */
  readonly note?: ComponentChildren;
};

/** A labelled field of a form. */
export function Field({ label, note, ...input }: FieldProps) {
  return h('label', { class: 'field' }, [
    h('span', null, label),
    h('input', { autoComplete: 'off', ...input }),
    note && h('small', null, note),
  ]);
}

/** `examples`: durations for its title. */
export function DurationField({
  examples,
  ...input
}: FieldProps & { readonly examples: string }) {
  const title = `A number with a unit, for example ${examples}.`;
  return h(Field, {
    pattern: '(0|[1-9][0-9]{0,8})(ms|s|m|h|d)',
    title,
    ...input,
  });
}

export interface ChoiceProps {
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
      {
        name,
        onChange: (event: Event) =>
          onChoice?.((event.currentTarget as HTMLSelectElement).value),
      },
      options.map(([one, word]) =>
        h('option', { key: one, value: one, selected: one === value }, word),
      ),
    ),
  ]);
}

type SearchFieldProps = Pick<
  FieldProps,
  'label' | 'name' | 'maxLength' | 'placeholder'
> & {
  readonly value: string;
};

/**
 * A field of a search. It has what is looked for, also after a step back, and keeps the focus when
 * it was changed.
 */
export function SearchField({ value, ...input }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  // A later effect could replace what has been typed by then.
  useLayoutEffect(() => {
    field.current!.value = value;
  }, [value]);
  return h(Field, { ref: field, type: 'search', spellcheck: false, ...input });
}

interface FiltersProps {
  /** What it does, for people who do not see where it stands: `Filter keys`. */
  readonly label: string;
  /** The word on its button. */
  readonly verb?: string;
  /** Gets what is written into the fields that have a name, without spaces around it. */
  readonly onSubmit: (fields: Readonly<Record<string, string>>) => void;
  /** The address of the list without filters; empty if nothing is filtered now. */
  readonly all?: string;
  readonly children?: ComponentChildren;
}

/**
 * The form that every search and every list with filters has. Choices may act by themselves: those
 * have no name.
 */
export function Filters({
  label,
  verb = 'Filter',
  onSubmit,
  all = '',
  children,
}: FiltersProps) {
  function submit(event: SubmitEvent) {
    event.preventDefault();
    const fields = [...new FormData(event.currentTarget as HTMLFormElement)];
    onSubmit(
      Object.fromEntries(
        fields.map(([name, value]) => [name, String(value).trim()]),
      ),
    );
  }
  return h(
    'form',
    { class: 'filters', role: 'search', 'aria-label': label, onSubmit: submit },
    [
      children,
      h('button', { type: 'submit' }, verb),
      all !== '' && h('a', { href: all }, 'Show all'),
    ],
  );
}

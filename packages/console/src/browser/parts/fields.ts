import { type ComponentChildren, h, type JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

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
  readonly options: readonly (readonly [value: string, label: string])[];
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
      options.map(([one, label]) =>
        h('option', { key: one, value: one, selected: one === value }, label),
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
 * A field of a search. It has what is looked for, also after a step back, and keeps the focus and
 * spaces at its ends while somebody types.
 */
export function SearchField({ value, ...input }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  // A later effect could replace what has been typed by then.
  useLayoutEffect(() => {
    if (field.current!.value.trim() !== value) field.current!.value = value;
  }, [value]);
  return h(Field, { ref: field, type: 'search', spellcheck: false, ...input });
}

/** Milliseconds without a key after which typed filters apply. */
const TYPED = 300;

interface FiltersProps {
  /** What it does, for people who do not see where it stands: `Filter keys`. */
  readonly label: string;
  /** Gets what is written into the fields that have a name, without spaces around it. */
  readonly onChange: (fields: Readonly<Record<string, string>>) => void;
  /** The address of the list without filters; empty if nothing is filtered now. */
  readonly all?: string;
  readonly children?: ComponentChildren;
}

/**
 * The form that every list with filters has. Texts apply while they are typed. Choices apply by
 * themselves: those have no name.
 */
export function Filters({ label, onChange, all = '', children }: FiltersProps) {
  const timer = useRef<number>(0);
  useEffect(() => () => clearTimeout(timer.current), []);

  function apply(form: HTMLFormElement) {
    clearTimeout(timer.current);
    const fields = [...new FormData(form)];
    onChange(
      Object.fromEntries(
        fields.map(([name, value]) => [name, String(value).trim()]),
      ),
    );
  }

  function onInput({ currentTarget, target }: Event) {
    if (!(target as HTMLInputElement).name) return;
    clearTimeout(timer.current);
    const form = currentTarget as HTMLFormElement;
    timer.current = window.setTimeout(() => apply(form), TYPED);
  }

  function onSubmit(event: SubmitEvent) {
    event.preventDefault();
    apply(event.currentTarget as HTMLFormElement);
  }

  return h(
    'form',
    {
      class: 'filters',
      role: 'search',
      'aria-label': label,
      onInput,
      onSubmit,
    },
    [
      children,
      // Without a button, Enter would not submit several fields.
      h('button', { type: 'submit', hidden: true }),
      all !== '' && h('a', { href: all }, 'Show all'),
    ],
  );
}

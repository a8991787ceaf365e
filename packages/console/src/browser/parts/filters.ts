import { type ComponentChildren, h } from 'preact';

interface FiltersProps {
  /** What it does, for people who do not see where it stands: `Filter keys`. */
  readonly label: string;
  /** The word on its button. */
  readonly verb: string;
  /** Gets what is written into the fields that have a name, without spaces around it. */
  readonly onSubmit: (fields: Readonly<Record<string, string>>) => void;
  /** The address of the list without filters, where something is filtered now. */
  readonly all?: string | undefined;
  readonly children?: ComponentChildren;
}

/** The form that every search and every list with filters has. Choices may act by themselves: those have no name. */
export function Filters({ label, verb, onSubmit, all, children }: FiltersProps) {
  function submit(event: SubmitEvent) {
    event.preventDefault();
    const fields = [...new FormData(event.currentTarget as HTMLFormElement)];
    onSubmit(Object.fromEntries(fields.map(([name, value]) => [name, String(value).trim()])));
  }
  return h('form', { class: 'filters', role: 'search', 'aria-label': label, onSubmit: submit }, [
    children,
    h('button', { type: 'submit' }, verb),
    all !== undefined && h('a', { href: all }, 'Show all'),
  ]);
}

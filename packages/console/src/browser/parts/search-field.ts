import { h } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface SearchFieldProps {
  readonly label: string;
  readonly name: string;
  /** What is looked for now. */
  readonly value: string;
  readonly maxLength: number;
  readonly placeholder?: string;
  readonly required?: boolean;
}

/** A field of a search. It has what is looked for, also after a step back, and keeps the focus when it was changed. */
export function SearchField({ label, value, ...input }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  // A later effect could replace what has been typed by then.
  useLayoutEffect(() => {
    field.current!.value = value;
  }, [value]);
  return h('label', { class: 'field' }, [
    h('span', null, label),
    h('input', { ref: field, type: 'search', autoComplete: 'off', spellcheck: false, ...input }),
  ]);
}

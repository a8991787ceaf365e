import { h } from 'preact';
import { goUnlessSecret } from '../secrets.ts';
import { Choice, type ChoiceProps, SearchField } from './fields.ts';
import { Pager, type PagerProps } from './pager.ts';

/**
 * Filters of a list, whose values stand in the address of the view, and the controls that change
 * them. A changed filter begins at the first page.
 */
export function filtersOf<Name extends string>(
  view: string,
  values: Readonly<Record<Name, string>>,
) {
  /** Goes to the list with these values changed, unless one of them looks like a secret. */
  const go = (changed: Readonly<Record<string, string>>, replace = false) =>
    goUnlessSecret(view, { ...values, ...changed }, { replace });

  return {
    /** For typed texts, which leave no step back for each letter. */
    onChange: (typed: Readonly<Record<string, string>>) => go(typed, true),
    /** A text, which applies while it is typed. */
    search: (
      name: Name,
      label: string,
      maxLength: number,
      placeholder?: string,
    ) =>
      h(SearchField, {
        key: name,
        label,
        name,
        value: values[name],
        maxLength,
        placeholder,
      }),
    /** A choice, which applies at once. */
    choice: (name: Name, label: string, options: ChoiceProps['options']) =>
      h(Choice, {
        key: name,
        label,
        options,
        value: values[name],
        onChoice: (value) => go({ [name]: value }),
      }),
    /** `parameter`: of the address, with the begin of the page. */
    pager: (parameter: string, page: Omit<PagerProps, 'onGo'>) =>
      h(Pager, { ...page, onGo: (at) => go({ [parameter]: at }) }),
  };
}

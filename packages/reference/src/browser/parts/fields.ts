import { type ComponentChildren, h } from 'preact';
import type { SchemaNode } from '../model/document.ts';
import { sample } from '../model/example.ts';
import { isList, isStructured } from '../model/request.ts';
import { shortText, typesOf } from '../model/schema.ts';
import { Star, Table, useApi } from './shared.ts';

interface FieldProps {
  readonly name: string;
  readonly node: SchemaNode | undefined;
  readonly required?: boolean | undefined;
  readonly isJson?: boolean;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** A control whose value is text, whatever its schema. */
export function Field({
  name,
  node,
  required,
  isJson,
  value,
  onChange,
}: FieldProps) {
  const api = useApi();
  const schema = api.schema(node);
  const options = typesOf(schema).includes('boolean')
    ? [true, false]
    : schema.enum;
  const own = {
    'aria-label': name,
    required,
    value,
    onInput: ({
      currentTarget,
    }: {
      readonly currentTarget: { readonly value: string };
    }) => onChange(currentTarget.value),
  };
  if (isList(api, schema))
    return h('textarea', {
      ...own,
      rows: 2,
      placeholder: 'One value per line',
    });
  if (isJson || isStructured(schema))
    return h('textarea', {
      ...own,
      rows: 3,
      placeholder: JSON.stringify(sample(api, node, 'request')),
    });
  if (options === undefined)
    return h('input', { ...own, placeholder: name, autoComplete: 'off' });
  return h('select', own, [
    h('option', { value: '' }, '–'),
    options.map((option) => h('option', { key: option }, shortText(option))),
  ]);
}

export interface TableRow {
  readonly name: string;
  readonly required?: boolean | undefined;
  readonly deprecated?: boolean | undefined;
  readonly type: string;
  readonly place: string;
  readonly content: ComponentChildren;
}

/** Names at the left, what they mean and their controls at the right. */
export function FieldTable({
  label,
  rows,
}: {
  readonly label: string;
  readonly rows: readonly TableRow[];
}) {
  const row = ({
    name,
    required,
    deprecated,
    type,
    place,
    content,
  }: TableRow) =>
    h('tr', { key: `${place} ${name}`, 'data-name': name }, [
      h('th', { scope: 'row' }, [
        h('code', { class: deprecated ? 'deprecated' : undefined }, name),
        required && h(Star, null),
        h('small', null, type),
        h('small', null, place),
      ]),
      h('td', null, content),
    ]);
  return h(
    Table,
    { class: 'fields', label, titles: ['Name', 'Description'] },
    rows.map(row),
  );
}

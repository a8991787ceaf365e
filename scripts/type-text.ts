import type { Schema } from './schema.ts';

/** A schema without references; `members` are those of its properties. */
export function typeText(
  { enum: values, items, properties, additionalProperties: others, type, pattern = '' }: Schema,
  indent: string,
  typeOf: (schema: Schema, indent: string) => string,
  members: (indent: string) => readonly string[],
): string {
  if (values) return values.map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ');
  if (items) return listText(typeOf(items, indent));
  if (properties) return objectText(members(`${indent}  `), indent);
  if (others instanceof Object) return `Readonly<Record<string, ${typeOf(others, indent)}>>`;
  if (type === 'object') return 'Readonly<Record<string, unknown>>';
  const [, constant] = /^\^(\w+)\$$/.exec(pattern) ?? [];
  const names = [type ?? 'unknown'].flat().map((name) => {
    if (name === 'string' && constant !== undefined) return `'${constant}'`;
    return name === 'integer' ? 'number' : name;
  });
  return names.filter((name) => name !== 'null').join(' | ');
}

/** An object of these members, in one line if it is short. */
export function objectText(members: readonly string[], indent: string): string {
  const short = `{ ${members.join('; ')} }`;
  if (indent !== '' && short.length < 90) return short;
  return `{\n${members.map((member) => `${indent}  ${member};\n`).join('')}${indent}}`;
}

function listText(type: string): string {
  return `readonly ${/^(\w+|\{.*\})$/s.test(type) ? type : `(${type})`}[]`;
}

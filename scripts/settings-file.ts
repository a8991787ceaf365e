import { stringify } from 'yaml';
import { flatten, schemaOf } from '../src/config/schema/schema.ts';
import { proseOf, type Schema } from './schema.ts';

/** Columns. */
const WIDTH = 100;

const HEAD = `# yaml-language-server: $schema=./gateway.schema.json
#
# Every setting with its default, written by \`npm run generate\` from gateway.schema.json. A setting
# that is left out has its default; a file without settings is \`{}\`. A variable of the environment
# overrides the setting that names it. \`storegate check\` reports every mistake with line and column.
#
# Durations: 100ms, 5s, 1m, 2h, 1d. Sizes: 16KiB, 1MiB, or a number of bytes. Paths are relative to
# the working directory of the gateway.
`;

/** config/gateway.yaml: every setting with its default and description. */
export function settingsFile(): string {
  const root = schemaOf('gateway');
  const sections = entriesOf(root).map(([name, schema]) =>
    settingText(name, schema, '').join('\n'),
  );
  return [HEAD, ...sections.map((text) => `${text}\n`)].join('\n');
}

function entriesOf(section: Schema): (readonly [name: string, schema: Schema])[] {
  const root = schemaOf('gateway');
  return Object.entries(section.properties ?? {}).map(([name, schema]) => [
    name,
    flatten(schema, root),
  ]);
}

function settingText(name: string, schema: Schema, indent: string): string[] {
  const comment = wrapped(proseOf(schema), `${indent}# `);
  if (schema.properties !== undefined) {
    const inner = entriesOf(schema).flatMap(([key, part]) => settingText(key, part, `${indent}  `));
    return [...comment, `${indent}${name}:`, ...inner];
  }
  return [...comment, ...membersOf(schema, indent), ...valueText(name, schema.default, indent)];
}

/** Of the entries of a list, as a comment. */
function membersOf({ items }: Schema, indent: string): string[] {
  if (items === undefined) return [];
  const members = entriesOf(flatten(items, schemaOf('gateway')));
  return members.flatMap(([key, part]) => {
    const prose = proseOf(part);
    return prose === '' ? [] : wrapped(`${key}: ${prose}`, `${indent}#   `, `${indent}#     `);
  });
}

function valueText(name: string, value: unknown, indent: string): string[] {
  const text = (expected: unknown) =>
    stringify(expected, {
      collectionStyle: 'flow',
      lineWidth: 0,
      flowCollectionPadding: false,
    }).trimEnd();
  const line = `${indent}${name}: ${text(value)}`;
  if (line.length <= WIDTH || !Array.isArray(value)) return [line];
  const entries = value.map((entry) => text(entry)).join(', ');
  return [
    `${indent}${name}:`,
    `${indent}  [`,
    ...wrapped(entries, `${indent}    `),
    `${indent}  ]`,
  ];
}

function wrapped(text: string, first: string, others = first): string[] {
  const lines: string[] = [];
  let line = first;
  for (const word of text.split(' ')) {
    if (line.length + word.length > WIDTH && line.trim() !== others.trim()) {
      lines.push(line.trimEnd());
      line = others;
    }
    line += `${word} `;
  }
  return text === '' ? [] : [...lines, line.trimEnd()];
}

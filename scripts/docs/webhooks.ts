import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { WEBHOOK_SCHEMA } from '@storegate/admin-api/files';
import type { Schema } from '../schema.ts';

/** What is written by hand: setup, signatures and delivery. */
const HEAD = resolve(import.meta.dirname, 'webhooks.md');

/** The page about webhooks as Markdown; docs/webhooks.md is this text. */
export function webhooks(): string {
  const { definitions = {} } = JSON.parse(readFileSync(WEBHOOK_SCHEMA, 'utf8')) as Schema;
  const [first] = Object.values<Schema>(definitions);
  return `${readFileSync(HEAD, 'utf8')}
\`\`\`json
${JSON.stringify(first!.example, null, 2)}
\`\`\`
${Object.entries(definitions).map(sectionOf).join('')}`;
}

function sectionOf([type, { description, properties = {} }]: [string, Schema]): string {
  const { required = [], properties: fields = {} } = properties.data!;
  const rows = Object.entries<Schema>(fields).map(
    ([name, field]) =>
      `| \`${name}\` | ${typeOf(field)}${required.includes(name) ? '' : ', optional'} | ${field.description} |`,
  );
  return `
### ${type}

${description}

| field of \`data\` | type | description |
|---|---|---|
${rows.join('\n')}
`;
}

function typeOf({ type, format, enum: values }: Schema): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  return format ?? `${type}`;
}

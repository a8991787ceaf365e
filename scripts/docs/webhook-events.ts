import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const SCHEMA = resolve(import.meta.dirname, '../../config/webhooks.schema.json');

interface Field {
  readonly type: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly description: string;
}

interface Definition {
  readonly description: string;
  readonly properties: {
    readonly data: { readonly required: readonly string[]; readonly properties: Readonly<Record<string, Field>> };
  };
  readonly example: unknown;
}

/** The events of webhooks as Markdown; docs/webhook-events.md is this text. */
export function webhookEvents(): string {
  const { definitions } = JSON.parse(readFileSync(SCHEMA, 'utf8')) as { definitions: Record<string, Definition> };
  return `# Events of webhooks

Every event is \`{"type", "timestamp", "data"}\`; \`timestamp\` says when it happened. Fields may be added. One that is absent is not known, or does
not apply. [webhooks.md](webhooks.md) says how events come and how to check them.
${Object.entries(definitions).map(sectionOf).join('')}`;
}

function sectionOf([type, { description, properties, example }]: [string, Definition]): string {
  const { required, properties: fields } = properties.data;
  const rows = Object.entries(fields).map(
    ([name, field]) =>
      `| \`${name}\` | ${kindOf(field)} | ${required.includes(name) ? 'yes' : ''} | ${field.description} |`,
  );
  return `
## ${type}

${description}

| in \`data\` | type | always there | it is |
|---|---|---|---|
${rows.join('\n')}

\`\`\`json
${JSON.stringify(example, null, 2)}
\`\`\`
`;
}

function kindOf({ type, format, enum: values }: Field): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  return format ?? type;
}

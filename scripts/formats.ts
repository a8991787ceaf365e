import { CATALOGUE } from '../src/common/errors/catalogue.ts';
import { METRICS } from '../src/observe/metric-table.ts';
import {
  nameOf as commandOf,
  commandsIn,
  documentedProgram,
  usageOf,
} from './docs/command-line.ts';
import { labelsOf, typeOf } from './docs/metrics.ts';
import { files } from './formats/files.ts';
import { logLines } from './formats/log.ts';
import { redis } from './formats/redis.ts';
import { adminApi, settings, webhooks } from './formats/schemas.ts';

/**
 * Everything that users, their tools and other versions depend on: sorted lines `name: value`, or
 * names alone.
 */
export function formats(): readonly string[] {
  const all = [settings, adminApi, metrics, logLines, webhooks, redis, files, commands, responses];
  return [...new Set(all.flatMap((each) => [...each()]))].sort();
}

function* metrics(): Generator<string> {
  for (const row of METRICS)
    yield `metric ${row.name}: ${typeOf(row)}, labels ${labelsOf(row).join(' ') || '-'}`;
}

/** The names of values are not part of them: `--limit <value>`. */
function* commands(): Generator<string> {
  for (const command of commandsIn(documentedProgram())) {
    const name = commandOf(command);
    const options = command.options.map(({ flags }) => `${name} ${flags}`);
    const forms = command.parent === null ? options : [name, usageOf(command), ...options];
    for (const form of forms) yield `command ${form.replace(/([<[])[^>\]]+/g, '$1value')}`;
  }
}

/** That docs/clients.md explains. */
export const RESPONSE_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
  'X-Ban-Warning',
  'X-Key-Retires',
  'Deprecation',
  'Sunset',
  'Link',
  'X-Stability-Level',
  'Location',
  'ETag',
  'X-Next-Cursor',
];

function* responses(): Generator<string> {
  for (const [code, { status }] of Object.entries(CATALOGUE)) yield `error ${code}: ${status}`;
  for (const header of RESPONSE_HEADERS) yield `response header ${header}`;
}

const nameOf = (text: string): string => text.split(': ', 1)[0]!;

export interface Difference {
  /** Lines that begin with `-` (gone), or `-` and `+` (changed). */
  readonly breaking: readonly string[];
  readonly added: readonly string[];
}

export function compare(before: readonly string[], after: readonly string[]): Difference {
  const [old, now] = [before, after].map((lines) => new Set(lines)) as [Set<string>, Set<string>];
  const names = new Set(before.map(nameOf));
  const added = after.filter((text) => !old.has(text)).map((text) => `+ ${text}`);
  const isChange = (text: string) => names.has(nameOf(text.slice('+ '.length)));
  const gone = before.filter((text) => !now.has(text)).map((text) => `- ${text}`);
  return {
    breaking: [...gone, ...added.filter(isChange)],
    added: added.filter((text) => !isChange(text)),
  };
}

/** Empty without a difference. */
export function report({ breaking, added }: Difference): string {
  const accept =
    'Restore it, or accept it with `npm run generate -- --breaking` and add it to CHANGELOG.md.';
  return [
    ...(breaking.length > 0 ? [`breaking: others depend on what changed here. ${accept}`] : []),
    ...breaking,
    ...(added.length > 0 ? ['new: run `npm run generate`.'] : []),
    ...added,
  ].join('\n');
}

/** With the lines that are new. */
export function renewed(before: readonly string[], current: readonly string[]): readonly string[] {
  const { added } = compare(before, current);
  return [...before, ...added.map((text) => text.slice('+ '.length))].sort();
}

/** The new text of formats.txt. It changes and loses lines only if breaking changes are accepted. */
export function snapshot(text: string, acceptsBreaking: boolean): string {
  const lines = acceptsBreaking ? formats() : renewed(linesOf(text), formats());
  return `${lines.join('\n')}\n`;
}

export const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');

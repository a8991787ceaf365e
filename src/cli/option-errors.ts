import { REASON_HEADER } from '@storegate/admin-api';
import type { Command, Option } from 'commander';
import { CommandError } from './connect/api.ts';
import { safeText } from './output.ts';

/** By the field of the admin API, for options with another name. */
const OPTIONS_OF: Readonly<Record<string, readonly string[]>> = {
  'Idempotency-Key': ['idempotencyKey'],
  [REASON_HEADER]: ['reason'],
  addresses: ['address'],
  apis: ['api'],
  'addresses/allow': ['allow'],
  'addresses/deny': ['deny'],
  scopes: ['scope', 'addScope'],
  addScopes: ['addScope'],
  removeScopes: ['removeScope'],
  metadata: ['meta'],
};

const LONGEST_SHOWN = 80;

/** The end of a sentence about the value of the option. */
const PREDICATE = /^(must|is|has|does|cannot) /;

/** Ends `command` as for an invalid option if the admin API refused the value of an option. */
export function refuseOptions(command: Command, error: unknown): void {
  if (!(error instanceof CommandError) || error.faults.length === 0) return;
  const lines = error.faults.map(({ pointer, message }) => {
    const option = optionAt(command, pointer);
    if (option === null) return null;
    const value = command.getOptionValue(option.attributeName());
    const wrong = value === undefined ? 'missing' : 'invalid';
    return `error: option '${option.flags}'${shown(value)} is ${wrong}. ${sentenceOf(message)}`;
  });
  if (!lines.includes(null)) command.error(lines.join('\n'), { exitCode: 2 });
}

/** The given option, if a field has several. */
function optionAt(command: Command, pointer: string): Option | null {
  const [, field = '', part] = pointer.split('/');
  const names = OPTIONS_OF[`${field}/${part}`] ?? OPTIONS_OF[field] ?? [field];
  const options = command.options.filter((one) =>
    names.includes(one.attributeName()),
  );
  const isGiven = (one: Option) =>
    command.getOptionValue(one.attributeName()) !== undefined;
  return options.find(isGiven) ?? options[0] ?? null;
}

function sentenceOf(message: string): string {
  const text = PREDICATE.test(message)
    ? `It ${message}`
    : `${message[0]!.toUpperCase()}${message.slice(1)}`;
  return text.endsWith('.') ? text : `${text}.`;
}

/** As commander shows it, unless it is long or a list. */
function shown(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  const text = value === '' ? '' : safeText(value);
  return text.length > LONGEST_SHOWN ? '' : ` argument '${text}'`;
}

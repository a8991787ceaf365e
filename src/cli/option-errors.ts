import { REASON_HEADER } from '@storegate/admin-api';
import type { Command } from 'commander';
import { CommandError } from './connect/api.ts';
import { safeText } from './output.ts';

/** By the field of the admin API, for options with another name. */
const OPTION_OF: Readonly<Record<string, string>> = {
  'Idempotency-Key': 'idempotencyKey',
  [REASON_HEADER]: 'reason',
  addresses: 'address',
  scopes: 'scope',
  addScopes: 'addScope',
  removeScopes: 'removeScope',
  metadata: 'meta',
};

const LONGEST_SHOWN = 80;

/** Ends `command` as for an invalid option if the admin API refused the value of an option. */
export function refuseOptions(command: Command, error: unknown): void {
  if (!(error instanceof CommandError) || error.faults.length === 0) return;
  const lines = error.faults.map(({ pointer, message }) => {
    const field = pointer.split('/')[1] ?? '';
    const name = OPTION_OF[field] ?? field;
    const option = command.options.find((one) => one.attributeName() === name);
    if (option === undefined) return null;
    return `error: option '${option.flags}'${shown(command.getOptionValue(name))} is invalid. It ${message}.`;
  });
  if (!lines.includes(null)) command.error(lines.join('\n'), { exitCode: 2 });
}

/** As commander shows it, unless it is long or a list. */
function shown(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  const text = value === '' ? '' : safeText(value);
  return text.length > LONGEST_SHOWN ? '' : ` argument '${text}'`;
}

import type { Command } from 'commander';
import { type Common, duration, future, pair, several } from '../command.ts';

/** The options that describe a key. */
export interface Described extends Common {
  readonly plan?: string;
  readonly account?: string;
  readonly label?: string | false;
  readonly limits?: string | false;
  readonly expires?: string | false;
  readonly expiresIn?: string;
  readonly address?: string[];
  readonly addresses?: false;
  readonly scope?: string[];
  readonly scopes?: false;
  readonly meta?: Record<string, string>;
  readonly env?: string;
  readonly idempotencyKey?: string;
}

export function described(command: Command): Command {
  return command
    .option('--label <text>', 'what the key is for')
    .option('--limits <limits>', 'own limits, such as 600/minute,100000/day')
    .option('--expires <time>', 'end of the key, such as 2030-01-31T00:00:00Z', future)
    .option('--expires-in <time>', 'such as 90d; without it the key does not expire', duration)
    .option('--address <block>', 'address or block the key may be used from; may be repeated', several)
    .option('--scope <name>', 'what the key may do where the contract asks for a scope; may be repeated', several)
    .option('--meta <name=value>', 'something to find again; may be repeated', pair);
}

/** The fields of the key from the options, under their names in the API; `false` removes a field. */
export function bodyOf(options: Described) {
  const { plan, account, label, limits, expires, expiresIn, address, addresses, scope, scopes, meta, env } = options;
  const orNull = <T>(value: T | false | undefined) => (value === false ? null : value);
  return {
    account,
    plan,
    env,
    label: orNull(label),
    limits: orNull(limits),
    expires: orNull(expires),
    expiresIn,
    addresses: address ?? orNull(addresses),
    scopes: scope ?? (scopes === false ? [] : undefined),
    metadata: meta,
  };
}

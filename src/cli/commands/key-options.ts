import type { KeyUpdate } from '@storegate/admin-api';
import type { Option } from 'commander';
import {
  durationOf,
  futureTime,
  limits,
  option,
  pair,
  repeated,
} from '../command.ts';

export interface KeyOptions {
  readonly plan?: string;
  readonly label?: string | boolean;
  readonly limits?: string | boolean;
  readonly expires?: string | boolean;
  readonly expiresIn?: string;
  readonly address?: string[];
  readonly addresses?: boolean;
  readonly api?: string[];
  readonly apis?: boolean;
  readonly scope?: string[];
  readonly scopes?: boolean;
  readonly addScope?: string[];
  readonly removeScope?: string[];
  readonly meta?: Record<string, string>;
}

export const KEY_OPTIONS: readonly Option[] = [
  option('--label <text>', 'purpose of the key'),
  option(
    '--limits <limits>',
    'limits in place of those of the plan, e.g. 600/minute,100000/day',
    limits,
  ),
  option(
    '--expires <time>',
    'expiry time, e.g. 2030-01-31T00:00:00Z',
    futureTime,
  ),
  option(
    '--expires-in <time>',
    'time until expiry, e.g. 90d',
    durationOf('expiresIn'),
  ).conflicts('expires'),
  option(
    '--address <block>',
    'allowed client address or block; repeatable; default: any',
    repeated,
  ),
  option(
    '--scope <name>',
    'scope for operations that require one; repeatable',
    repeated,
  ),
  option(
    '--api <name>',
    'API that it may be used for, of several in gateway.yaml; repeatable; default: all',
    repeated,
  ),
  option('--meta <name=value>', 'metadata; repeatable', pair),
];

/** `null` removes a field. */
export function bodyOf(options: KeyOptions): KeyUpdate {
  const {
    plan,
    label,
    limits,
    expires,
    expiresIn,
    address,
    addresses,
    api,
    apis,
    scope,
    scopes,
    addScope,
    removeScope,
    meta,
  } = options;
  // Commander gives `true` for a `--no-…` option that was not used.
  const orNull = <T>(value: T | boolean | undefined) =>
    value === false ? null : value === true ? undefined : value;
  return {
    plan,
    label: orNull(label),
    limits: orNull(limits),
    expires: orNull(expires),
    expiresIn,
    addresses: address ?? (addresses === false ? null : undefined),
    apis: api ?? (apis === false ? null : undefined),
    scopes: scope ?? (scopes === false ? [] : undefined),
    addScopes: addScope,
    removeScopes: removeScope,
    metadata: meta,
  };
}

import type { Contract, Operation } from '../contract.ts';
import { scopedLimits } from './scoped-limits.ts';

/** What a client should know of an operation before it calls it. */
export function sentences(operation: Operation, contract: Contract): string[] {
  const cost = operation['x-ratelimit-cost'] ?? 1;
  const scopes = operation['x-required-scopes'] ?? [];
  const most = operation['x-max-body-bytes'];
  return [
    cost === 0 ? 'Counts against no limit.' : `Counts as ${cost} ${cost === 1 ? 'request' : 'requests'}.`,
    ...(operation['x-stability-level'] === 'beta' ? ['Beta: it may still change, with notice.'] : []),
    ...(operation['x-stability-level'] === 'experimental' ? ['Experimental: it may change or go at any time.'] : []),
    ...(operation['x-try-it'] === false ? ['It cannot be tried from this page.'] : []),
    ...(scopes.length === 0
      ? []
      : [`Needs a key with ${scopes.length === 1 ? 'the scope' : 'the scopes'} ${scopes.join(', ')}.`]),
    ...(most === undefined ? [] : [`Takes a body of at most ${most.toLocaleString('en')} bytes.`]),
    ...(operation['x-storegate-unchecked-body'] === true ? ['Some bodies go on without a check.'] : []),
    ...scopedLimits(operation, contract),
  ];
}

import type { ErrorObject } from 'ajv';
import { MAX_FAULTS } from '../faults.ts';

export type Known = Map<object, readonly ErrorObject[] | null>;

/** Checks are synchronous, so all of them share it. */
export const memory = {
  judgements: 0,
  known: [] as Known[],
  dropped: false,
  apart: 0,
};

/** Thrown by a search for all faults that cannot list them. */
export const INCOMPLETE = Symbol('the faults are incomplete');

/** Runs a check whose faults may not count, such as the check of an alternative. */
export function apart<T>(check: () => T): T {
  memory.apart++;
  const result = check();
  memory.apart--;
  return result;
}

/** Call it after each check: the memory holds objects of its value. */
export function forget(): void {
  for (const known of memory.known) known.clear();
  memory.known.length = 0;
  memory.judgements = 0;
  memory.dropped = false;
  memory.apart = 0;
}

/**
 * Above the limit, only one more error is added, which marks the schema as not matching: lists that are copied at each
 * level must not grow with the value.
 */
export function added(errors: ErrorObject[] | null, more: readonly ErrorObject[]): ErrorObject[] {
  const all = errors ?? [];
  const room = Math.max(1, MAX_FAULTS + 1 - all.length);
  for (let i = 0; i < more.length && i < room; i++) all.push(more[i]!);
  if (more.length > room) memory.dropped = true;
  return all;
}

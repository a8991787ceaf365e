import type { ErrorObject } from 'ajv';
import { MAX_FAULTS } from '../faults.ts';

/** What a schema has found out about objects: their errors, `null` for one that fits. */
export type Known = Map<object, readonly ErrorObject[] | null>;

/** What is known in the check that runs. Checks are synchronous, so all of them share it. */
export const memory = {
  /** The judgements of schemas that remember. */
  judgements: 0,
  known: [] as Known[],
  /** Whether errors were found that are in no list. */
  dropped: false,
};

/** To be called behind each check: the memory has objects of its value, and the next check has another one. */
export function forget(): void {
  for (const known of memory.known) known.clear();
  memory.known.length = 0;
  memory.judgements = 0;
  memory.dropped = false;
}

/**
 * Adds what another schema has found to the errors of a schema, and returns the list to go on with. Beyond what is told of a whole value it
 * takes only one, which says that the schema does not fit: lists that are copied at each level must not grow with the value.
 */
export function added(errors: ErrorObject[] | null, more: readonly ErrorObject[]): ErrorObject[] {
  const all = errors ?? [];
  const room = Math.max(1, MAX_FAULTS + 1 - all.length);
  for (let i = 0; i < more.length && i < room; i++) all.push(more[i]!);
  if (more.length > room) memory.dropped = true;
  return all;
}

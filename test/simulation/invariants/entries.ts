import { keyOf } from '../../../src/state/redis/key-names.ts';
import type { Edit } from '../facts.ts';
import type { MakeInvariant } from './invariant.ts';

/** Actions that make the next version of a key. */
const CHANGES = ['keys.update', 'keys.rotate', 'keys.revoke'];

interface Entry {
  readonly action: string;
  readonly target: string;
  readonly requestId: string;
  readonly after: { readonly label?: string | null } | null;
}

/**
 * A confirmed change of an operator is in the log once, unless Redis has lost it, and a refused one
 * is not. The records are what the entries made of them.
 */
export const entries: MakeInvariant = ({ simulation, disturbances }) => {
  const { redis, isEmbedded } = simulation;
  const edits: Edit[] = [];

  function countFault(log: readonly Entry[]): string | null {
    const counts = new Map<string, number>();
    for (const { requestId } of log) counts.set(requestId, (counts.get(requestId) ?? 0) + 1);
    for (const { name, sentAt, result } of edits) {
      const count = counts.get(name) ?? 0;
      if (count > 1) return `one entry of ${name}, not ${count}`;
      if (result === 'refused' && count > 0) return `no entry of ${name}, which was refused`;
      const isLost = disturbances.between(sentAt, Number.POSITIVE_INFINITY, ['loss']).length > 0;
      if (result === 'made' && count === 0 && !isLost) return `an entry of ${name}`;
    }
    return null;
  }

  function recordFault(log: readonly Entry[]): string | null {
    const stored = redis.data.read(keyOf.records.keys, 'hash')?.fields ?? new Map();
    for (const [id, text] of stored) {
      const record = JSON.parse(text) as { version: number; label: string | null };
      const changes = log.filter(({ target, action }) => target === id && CHANGES.includes(action));
      const expected = changes.length + 1;
      if (record.version !== expected)
        return `version ${expected} of ${id} after its entries, not ${record.version}`;
      const label = changes.findLast(({ action }) => action === 'keys.update')?.after?.label;
      if (label !== undefined && label !== record.label)
        return `the label ${label} of ${id} after its entries, not ${record.label}`;
    }
    return null;
  }

  return {
    name: 'each change is made once, with its entry',
    observe(fact) {
      if (fact.type === 'edit') edits.push(fact.edit);
      return null;
    },
    async check() {
      if (isEmbedded) return null;
      const found = redis.data.read(keyOf.records.audit, 'stream')?.entries ?? [];
      const log = found.map(([, fields]) => JSON.parse(fields[1]!) as Entry);
      return countFault(log) ?? recordFault(log);
    },
  };
};

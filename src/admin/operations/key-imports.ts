import { ConfigError } from '../../config/problems/problems.ts';
import {
  applyImport,
  type ImportError,
  type ImportedKey,
  type ImportPlan,
  planImport,
} from '../../keys/bulk-import.ts';
import { readHash } from '../../keys/imported-secret.ts';
import { type BulkImportEntry, MANY_KEYS } from '../../keys/operators/audit-log.ts';
import { AdminError } from '../admin-error.ts';
import { type AdminOperations, ok, type Task } from '../call.ts';
import type { Change } from '../change.ts';
import type { AdminContext } from '../context.ts';
import { draftOf } from './keys.ts';

export function keyImportOperations(context: AdminContext, change: Change) {
  return {
    importKeys: async (task) => {
      const { dryRun = false } = task.body;
      // A dry run needs no lock.
      if (dryRun) return ok(report(await planOf(context, task), dryRun));
      return await change(task, MANY_KEYS, async (audit) => {
        const plan = await planOf(context, task);
        if (plan.flaws.length > 0 && !task.body.skipBad) throw refusal(plan.flaws);
        const answer = ok(report(plan, dryRun));
        if (plan.fresh.length === 0) return answer;
        await applyImport(context.keys, plan, task.now, (ids) => {
          const after: BulkImportEntry = { count: ids.length, ids };
          return audit.note({ action: 'keys.import', target: MANY_KEYS, before: null, after }, answer);
        });
        return answer;
      });
    },
  } satisfies Partial<AdminOperations>;
}

async function planOf(context: AdminContext, { body, now }: Task): Promise<ImportPlan> {
  const unread: ImportError[] = [];
  const keys: ImportedKey[] = [];
  const places: number[] = [];
  for (const [index, one] of (body.keys as Task['body'][]).entries()) {
    const key = foreignKeyOf({ body: one, now });
    if ('message' in key) unread.push({ index, ...key });
    else {
      keys.push(key);
      places.push(index);
    }
  }
  const plan = await planImport(context.keys, context.plans(), keys, now);
  const flaws = plan.flaws.map((flaw) => ({ ...flaw, index: places[flaw.index]! }));
  return { ...plan, flaws: [...unread, ...flaws].sort((a, b) => a.index - b.index) };
}

function foreignKeyOf(task: Pick<Task, 'body' | 'now'>): ImportedKey | Omit<ImportError, 'index'> {
  const hash = readHash(task.body.hash);
  if (hash === null) return { field: 'hash', message: 'it is not a SHA-256' };
  try {
    return { ...draftOf(task), hash, disabled: task.body.disabled ?? false };
  } catch (error) {
    if (error instanceof ConfigError) return { field: 'limits', message: 'limits look like 600/minute,100000/day' };
    throw error;
  }
}

function report({ fresh, already, flaws }: ImportPlan, dryRun: boolean) {
  return { dryRun, imported: fresh.length, already, bad: flaws };
}

function refusal(flaws: readonly ImportError[]): AdminError {
  const details = flaws.map(({ index, field, message }) => ({
    in: 'body' as const,
    pointer: `/keys/${index}/${field}`,
    message,
    rule: 'unfit' as const,
  }));
  const bad = new Set(flaws.map(({ index }) => index)).size;
  const [{ pointer, message }] = details as [(typeof details)[0]];
  const said = `Of these keys ${bad} cannot be imported, so none was; the first: ${pointer}: ${message}.`;
  return new AdminError('invalid_value', said, { details });
}

import { readFileSync } from 'node:fs';
import type { Plan, Plans } from '../../config/config.ts';
import { formatDuration } from '../../config/units.ts';
import { formatWindows, parseWindows } from '../../config/windows.ts';
import { subjectOf, windowsOf } from '../../keys/counting.ts';
import type { KeyRecord } from '../../keys/key.ts';
import type { Ladder } from '../../limits/limits.ts';
import { AdminError } from '../admin-error.ts';
import { type AdminOperations, ok, type Task } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { checkPlans, replaceFile, withPlan } from '../plan-file.ts';

export function planOperations(context: AdminContext): AdminOperations {
  async function usable(): Promise<KeyRecord[]> {
    return (await context.keys.list()).filter(({ revokedAt }) => revokedAt === null);
  }

  function shown({ name, count, windows }: Plan, keys: readonly KeyRecord[]) {
    const limits = windows && formatWindows(windows);
    return { name, count, limits, keys: keys.filter(({ plan }) => plan === name).length };
  }

  async function put(task: Task) {
    const file = context.config().files.plans;
    const plan = planIn(task);
    const old = readFileSync(file, 'utf8');
    const text = withPlan(file, plan);
    const tried = await trial(context, plan.name, checkPlans(text), await usable());
    const entry = { before: { limits: tried.before }, after: { limits: tried.after, count: plan.count } };
    const answer = ok(tried);
    await context.auditLog.append(task.note({ action: 'plans.put', target: plan.name, ...entry }, answer));
    replaceFile(file, text);
    try {
      await context.reload('a plan was put through the admin API');
    } catch (error) {
      replaceFile(file, old);
      throw error;
    }
    return answer;
  }

  return {
    listPlans: {
      role: 'read',
      run: async () => {
        const { plans, ladder } = context.plans();
        const keys = await usable();
        return ok({ plans: [...plans.values()].map((plan) => shown(plan, keys)), bans: ladder && shownLadder(ladder) });
      },
    },
    showPlan: {
      role: 'read',
      run: async ({ path }) => {
        const { plans } = context.plans();
        const plan = plans.get(path.plan!);
        if (plan) return ok(shown(plan, await usable()));
        throw new AdminError(
          'not_found',
          `There is no plan ${JSON.stringify(path.plan)}; there are ${[...plans.keys()].join(', ')}.`,
        );
      },
    },
    tryPlan: {
      role: 'read',
      run: async (task) => {
        const plan = planIn(task);
        const plans = checkPlans(withPlan(context.config().files.plans, plan));
        return ok(await trial(context, plan.name, plans, await usable()));
      },
    },
    putPlan: { role: 'admin', run: put },
  };
}

function planIn({ path, body }: Task): Plan {
  const windows = body.limits === null ? null : parseWindows(body.limits, 'limits');
  return { name: path.plan!, count: body.count ?? 'key', windows };
}

/** What other plans would mean for the keys of one plan. */
async function trial(context: AdminContext, name: string, planned: Plans, keys: readonly KeyRecord[]) {
  const current = context.plans();
  const affected = keys.filter((key) => key.plan === name && !sameLimits(key, current, planned));
  const unusable = affected.filter((key) => windowsOf(key, planned) === null).map(({ id }) => id);
  const overLimit = new Set<string>();
  for (const key of affected) {
    const windows = windowsOf(key, planned);
    const subject = subjectOf(key, planned);
    if (!windows || overLimit.has(subject)) continue;
    const { readings } = await context.state().look(subject, { windows, ladder: planned.ladder });
    if (readings.some(({ remaining }) => remaining === 0)) overLimit.add(subject);
  }
  return {
    plan: name,
    before: limitsOf(current.plans.get(name)),
    after: limitsOf(planned.plans.get(name)),
    keys: affected.length,
    overLimit: [...overLimit],
    unusable,
  };
}

function sameLimits(key: KeyRecord, before: Plans, after: Plans): boolean {
  const [old, planned] = [windowsOf(key, before), windowsOf(key, after)].map(
    (windows) => windows && formatWindows(windows),
  );
  return old === planned && subjectOf(key, before) === subjectOf(key, after);
}

function limitsOf(plan: Plan | undefined): string | null {
  return plan?.windows ? formatWindows(plan.windows) : null;
}

function shownLadder({ strikes, within, grace, lengths, forget }: Ladder) {
  const span = formatDuration;
  return { strikes, within: span(within), grace: span(grace), lengths: lengths.map(span), forget: span(forget) };
}

import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { PlanSimulation } from '@storegate/admin-api';
import { unlessOutage } from '../../common/errors/outage.ts';
import { parsePlans } from '../../config/plans.ts';
import { formatWindows } from '../../config/windows.ts';
import { remainingIn } from '../../limits/admission.ts';
import { escalationIn, type Plan, type Plans } from '../../limits/plans.ts';
import type { KeyRecord } from '../../records/keys/key.ts';
import { limitsOf, subjectOf, windowsOf } from '../../records/keys/subjects.ts';
import { AdminError } from '../admin-error.ts';
import type { AdminOperations, Task } from '../call.ts';
import type { Change, ChangeAudit, ChangeEntry } from '../change.ts';
import type { AdminContext } from '../context.ts';
import { unknownName } from '../filters.ts';
import { lastDay } from '../last-day.ts';
import { excessOfLastDay } from '../plan-excess.ts';
import {
  changedPlan,
  checkDraftIn,
  replacePlans,
  whileUnchanged,
  withPlan,
} from '../plan-file.ts';
import { escalationView, planOptions, planView } from '../view.ts';

/** Retries of concurrent changes of the file. */
const TRIES = 20;

/** Keys whose usage is read in one turn of the event loop. */
const IN_ONE_TURN = 500;

export function planOperations(context: AdminContext, change: Change) {
  /**
   * The number of keys that are not revoked, by plan; `null`: the state is down. Plans are in a file and stay
   * available.
   */
  const countsOrNull = (plans: readonly string[]) =>
    unlessOutage(() => context.keys.countKeys(plans), null);

  function shown(plan: Plan, counts: ReadonlyMap<string, number> | null) {
    return {
      name: plan.name,
      ...planView(plan),
      keys: counts?.get(plan.name) ?? null,
    };
  }

  /** The plan of the task in the text `old` of the plans file. */
  async function simulate(
    { path, body }: Task<'setPlan' | 'simulatePlan'>,
    old: string,
  ) {
    const name = path.plan;
    const inForce = context.plans();
    const { apis = [] } = inForce;
    const { plans } = parsePlans(old, apis);
    const before = plans.get(name);
    if (before === undefined && !body.create)
      throw unknownPlan(name, plans, ' To create it, add create (--create).');
    const plan = changedPlan(name, before, body);
    const text = withPlan(old, plan);
    const planned = checkDraftIn(text, name, apis);
    const keys = await affectedKeys(context, name, planned);
    const simulation = await simulationOf(context, name, planned, keys);
    return { before, plan, text, planned, keys, simulation };
  }

  async function put(
    task: Task<'setPlan'>,
    { make }: ChangeAudit,
  ): Promise<PlanSimulation> {
    const file = context.config().files.plans;
    for (let tries = 1; tries <= TRIES; tries++) {
      const old = readFileSync(file, 'utf8');
      const { before, plan, text, simulation } = await simulate(task, old);
      const entry: ChangeEntry = {
        action: 'plans.set',
        target: plan.name,
        before: before === undefined ? null : planView(before),
        after: planView(plan),
      };
      const response = await whileUnchanged(file, old, () =>
        make([{ entry, make: () => putInForce(file, old, text) }], simulation),
      );
      if (response) return response;
    }
    throw new AdminError(
      'conflict',
      `Others change the plans file ${file} again and again: try again later.`,
    );
  }

  async function putInForce(
    file: string,
    old: string,
    text: string,
  ): Promise<void> {
    await replacePlans(file, text);
    try {
      await context.reload('a plan was put through the admin API');
    } catch (error) {
      // Keeps what an editor has saved meanwhile.
      if (readFileSync(file, 'utf8') === text) await replacePlans(file, old);
      throw error;
    }
  }

  return {
    listPlans: async () => {
      const { plans, publicPlan, escalation } = context.plans();
      const counts = await countsOrNull([...plans.keys()]);
      return {
        plans: [...plans.values()].map((plan) => shown(plan, counts)),
        public: publicPlan ? [shown(publicPlan, null)] : [],
        bans: escalation && escalationView(escalation),
      };
    },
    getPlan: async ({ path, now }) => {
      const { plans } = context.plans();
      const plan = plans.get(path.plan);
      if (plan) {
        const view = shown(plan, await countsOrNull([plan.name]));
        const excess = await excessOfLastDay(context, now, plan);
        return excess === null ? view : { ...view, excess };
      }
      throw unknownPlan(path.plan, plans);
    },
    simulatePlan: async (task) => {
      const old = readFileSync(context.config().files.plans, 'utf8');
      const { plan, planned, keys, simulation } = await simulate(task, old);
      return {
        ...simulation,
        lastDay: await lastDay(context, task.now, plan.name, planned, keys),
      };
    },
    // All plans share one file.
    setPlan: (task) => change(task, 'plans', (audit) => put(task, audit)),
  } satisfies Partial<AdminOperations>;
}

function unknownPlan(
  name: string,
  plans: ReadonlyMap<string, Plan>,
  advice = '',
): AdminError {
  const { message } = unknownName('plan', name, [...plans.keys()]);
  return new AdminError('not_found', `${message}${advice}`);
}

/** Usable keys of a plan whose limits would change. */
async function affectedKeys(
  { keys, plans }: AdminContext,
  plan: string,
  planned: Plans,
): Promise<KeyRecord[]> {
  const affected = [];
  for await (const batch of keys.read({ plan })) {
    for (const key of batch)
      if (key.revokedAt === null && !sameLimits(key, plans(), planned))
        affected.push(key);
  }
  return affected;
}

async function simulationOf(
  context: AdminContext,
  name: string,
  planned: Plans,
  affected: readonly KeyRecord[],
) {
  const unusable = affected
    .filter((key) => windowsOf(key, planned) === null)
    .map(({ id }) => id);
  const overLimit = new Set<string>();
  const counted = {
    escalation: escalationIn(planned.plans.get(name), planned),
    scoped: context.contract().windows,
  };
  for (const [i, key] of affected.entries()) {
    if (i % IN_ONE_TURN === 0) await setImmediate();
    const windows = windowsOf(key, planned);
    const subject = subjectOf(key, planned);
    if (!windows || overLimit.has(subject)) continue;
    const limits = limitsOf(windows, counted);
    const { readings } = await context.state().look(subject, limits);
    if (
      readings.some(
        (reading) =>
          windows.includes(reading.window) && remainingIn(reading) === 0,
      )
    )
      overLimit.add(subject);
  }
  return {
    plan: name,
    before: limitNotation(context.plans().plans.get(name)),
    after: limitNotation(planned.plans.get(name)),
    ...planOptions(planned.plans.get(name)!),
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

function limitNotation(plan: Plan | undefined): string | null {
  return plan?.windows ? formatWindows(plan.windows) : null;
}

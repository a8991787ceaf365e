import type { PlanDraft } from '@storegate/console';
import { parseWindows } from '../config/windows.ts';
import type { Window } from '../limits/limits.ts';
import type { Plan } from '../limits/plans.ts';
import { AdminError } from './admin-error.ts';

/** Throws AdminError, and ConfigError for invalid limits. */
export function changedPlan(name: string, old: Plan | undefined, draft: PlanDraft): Plan {
  const concurrency = draft.concurrency === undefined ? old?.concurrency : draft.concurrency;
  const weight = draft.weight ?? old?.weight;
  return {
    name,
    count: draft.count ?? old?.count ?? 'key',
    windows: windowsAfter(name, old, draft),
    ...(typeof concurrency === 'number' && { concurrency }),
    ...(weight !== undefined && { weight }),
    ...addressesAfter(old, draft),
  };
}

function addressesAfter(old: Plan | undefined, { addresses }: PlanDraft): Pick<Plan, 'addresses'> {
  if (addresses === undefined) return old?.addresses === undefined ? {} : { addresses: old.addresses };
  const { allow = [], deny = [] } = addresses ?? {};
  return allow.length + deny.length === 0 ? {} : { addresses: { allow, deny } };
}

function windowsAfter(
  plan: string,
  before: Plan | undefined,
  { limits, drop = [] }: PlanDraft,
): readonly Window[] | null {
  const isCustom = before?.windows === null && limits === undefined && drop.length === 0;
  if (limits === null || isCustom) return null;
  const old = before?.windows ?? [];
  const named = limits === undefined ? [] : parseWindows(limits, 'limits');
  const unknown = drop.find((name) => !old.some((window) => window.name === name));
  if (unknown !== undefined) {
    const known = old.map(({ name }) => name).join(', ') || 'none';
    throw new AdminError(
      'invalid_value',
      `Plan ${plan} has no window ${JSON.stringify(unknown)} to drop; it has: ${known}.`,
    );
  }
  const stays = (window: Window) => !drop.includes(window.name) && !named.some(({ span }) => span === window.span);
  const windows = [...old.filter(stays), ...named].sort((a, b) => a.span - b.span);
  if (windows.length > 0) return windows;
  throw new AdminError(
    'invalid_value',
    `Plan ${plan} would have no window: say its limits, or null for none of its own.`,
  );
}

import { UnusableSection } from '../config/problems/problems.ts';
import type { Plans } from '../limits/plans.ts';
import type { AdminContext } from './context.ts';

/**
 * `null`: plans.yaml has a mistake, and no gateway runs here. Bans can then be shown and lifted, and
 * keys be disabled.
 */
export function readablePlans({
  plans,
}: Pick<AdminContext, 'plans'>): Plans | null {
  try {
    return plans();
  } catch (error) {
    if (error instanceof UnusableSection) return null;
    throw error;
  }
}

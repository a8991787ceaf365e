import type { Health } from '@storegate/admin-api';
import { MINUTE, SECOND } from '../common/time.ts';
import type { Observe } from '../observe/events.ts';

interface HealthWatchParts {
  readonly health: () => Promise<Health>;
  readonly isStopping: () => boolean;
  readonly observe: Observe;
}

/**
 * Milliseconds. A change is reported once it has lasted: one failed request is seen for a minute.
 * Down is reported at once.
 */
const TIMES = { interval: 5 * SECOND, lasting: 1.5 * MINUTE };

/** Reports changes of the health of this gateway, for the log and webhooks. Returns the end. */
export function watchHealth(
  parts: HealthWatchParts,
  { interval, lasting } = TIMES,
): () => void {
  const { health, isStopping, observe } = parts;
  let reported: Health['status'] = 'ok';
  let changedAt: number | null = null;

  async function check(): Promise<void> {
    const { status, findings } = await health();
    if (isStopping()) return;
    const now = performance.now();
    if (status === reported) {
      changedAt = null;
      return;
    }
    changedAt ??= now;
    if (status !== 'down' && now - changedAt < lasting) return;
    const reasons = findings.map(({ text }) => text);
    observe({ type: 'health.changed', before: reported, status, reasons });
    reported = status;
    changedAt = null;
  }

  const failed = (error: unknown) =>
    observe({ type: 'bug', id: 'health', error });
  const timer = setInterval(() => check().catch(failed), interval).unref();
  return () => clearInterval(timer);
}

import { DAY, HOUR, MINUTE } from '../common/time.ts';
import { formatLimit } from '../config/windows.ts';
import type { Event, EventOf, Observe } from '../observe/events.ts';
import { reasonOf } from '../observe/log-table.ts';
import { targetIn } from '../records/keys/subjects.ts';
import { timeOf, uniqueEvent, type WebhookEvent } from './event.ts';
import type { Sighting } from './incidents.ts';
import { createQuotaDetector } from './quota-detector.ts';

const MAX_PROBLEMS = 20;
const MAX_TEXT = 300;

export type Detection = WebhookEvent | Sighting;

interface DetectorOptions {
  /** Milliseconds. */
  readonly quota: number;
  readonly gateway: string;
  readonly clock: () => number;
  readonly onDetection: (detection: Detection) => void;
}

export function createDetector({
  quota,
  gateway,
  clock,
  onDetection,
}: DetectorOptions): Observe {
  const readQuotas = createQuotaDetector(quota, onDetection);
  return (event) => {
    if (event.type === 'request') {
      readQuotas(event);
    } else {
      const detection = detectionsIn(event, gateway, clock);
      if (detection !== null) onDetection(detection);
    }
  };
}

function detectionsIn(
  event: Event,
  gateway: string,
  clock: () => number,
): Detection | null {
  const seen = (
    sight: 'backend' | 'state',
    name: string,
    isDown: boolean,
    about: Readonly<Record<string, string>> = {},
  ): Detection => ({ sight, name, isDown, at: clock(), about });

  switch (event.type) {
    case 'ban.started':
      return banIn(event);
    case 'key.first_used': {
      const { type, at, keyId } = event;
      return uniqueEvent(type, at, keyId, at + DAY, { key: keyId });
    }
    case 'reload.failed':
      return failedReloadIn(event, gateway, clock());
    case 'health.changed':
      return healthIn(event, gateway, clock());
    case 'upstream.down': {
      const { upstream, backend, reason, error } = event;
      const cause =
        error === undefined ? {} : { error: short(reasonOf(error)) };
      const about = { upstream, backend, reason, ...cause };
      return seen('backend', `${upstream} ${backend}`, true, about);
    }
    case 'upstream.up': {
      const { upstream, backend } = event;
      const name = `${upstream} ${backend}`;
      return seen('backend', name, false, { upstream, backend });
    }
    case 'state.outage': {
      const { policy, error } = event;
      return seen('state', '', true, {
        policy,
        reason: short(reasonOf(error)),
      });
    }
    case 'state.recovered':
      return seen('state', '', false);
    default:
      return null;
  }
}

function failedReloadIn(
  event: EventOf<'reload.failed'>,
  gateway: string,
  at: number,
): Detection {
  const problems = event.problems.slice(0, MAX_PROBLEMS).map(short);
  const data = {
    gateway,
    reason: short(event.reason),
    problems,
    omitted: event.problems.length - problems.length,
  };
  // Gateways with the same files fail for the same reasons.
  const once = {
    name: `reload.failed ${JSON.stringify(problems)}`,
    since: 0,
    until: at + 10 * MINUTE,
  };
  return {
    type: 'reload.failed',
    at,
    data,
    identity: `${gateway} ${at}`,
    once,
  };
}

function healthIn(
  { before, status, reasons }: EventOf<'health.changed'>,
  gateway: string,
  at: number,
): WebhookEvent {
  const problems = reasons.slice(0, MAX_PROBLEMS).map(short);
  const data = { gateway, before, status, reasons: problems };
  return uniqueEvent('health.changed', at, `${gateway} ${at}`, at + HOUR, data);
}

function banIn({ ban, strike }: EventOf<'ban.started'>): WebhookEvent {
  const { subject, at, until, level, violated, strikes } = ban;
  const { target, plan } = targetIn(subject);
  const data = {
    ...(plan === null ? { key: target } : { key: null, account: target }),
    plan: plan ?? strike?.plan ?? null,
    limit: violated && formatLimit(violated),
    strikes,
    level,
    until: timeOf(until),
    operation: strike?.operation ?? null,
    requestId: strike?.requestId ?? null,
  };
  return uniqueEvent(
    'ban.started',
    at,
    `${subject} ${until}`,
    Math.max(until, at + HOUR),
    data,
  );
}

const short = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;

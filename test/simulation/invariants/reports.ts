import { DAY, HOUR, MINUTE } from '../../../src/common/time.ts';
import type { OperatorChange } from '../facts.ts';
import { CLIENT_DELAY } from '../gateway/gateway.ts';
import type { MakeInvariant } from './invariant.ts';

/** Milliseconds: `top` drops an hour in slices. */
const SLICE = 10 * MINUTE;

const ACTIONS: Readonly<Record<string, string>> = {
  ban: 'bans.add',
  lift: 'bans.lift',
  reset: 'usage.reset',
  grant: 'usage.grant',
  revoke: 'keys.revoke',
};

/** The audit log, history and webhooks report what happened. */
export const reports: MakeInvariant = ({ simulation, disturbances }) => {
  const changes: OperatorChange[] = [];
  const attempts: OperatorChange['step'][] = [];
  const answered: number[] = [];
  /** Of keys that were found. */
  const named: number[] = [];
  const bans = new Map<string, number>();

  async function audited(): Promise<string | null> {
    const { world, gateways } = simulation;
    const listed = await world.settle(
      gateways[0]!.operate('listAudit', { query: { limit: '1000' } }),
    );
    const entries = (listed as { entries: readonly { action: string; target: string }[] }).entries;
    for (const [name, action] of Object.entries(ACTIONS)) {
      const confirmed = changes.filter(({ step, error }) => step.type === name && error === null);
      // A key is revoked once.
      const made =
        name === 'revoke' ? new Set(confirmed.map(({ key }) => key.id)).size : confirmed.length;
      const tried = attempts.filter(({ type }) => type === name).length;
      const found = entries.filter((entry) => entry.action === action).length;
      const isLost = disturbances.between(0, world.now, ['loss']).length > 0;
      if ((found < made && !isLost) || found > tried)
        return `${made} entries of ${action}, not ${found}`;
    }
    return null;
  }

  /** The requests of the last day, unless a process was killed with its last second. */
  async function counted(): Promise<string | null> {
    const { world, gateways } = simulation;
    // The history is by the clocks of the gateways.
    if (disturbances.between(0, world.now, ['clock']).length > 0) return null;
    if (disturbances.between(world.now - 2 * DAY, world.now, ['loss', 'pause']).length > 0)
      return null;
    const body = await world.settle(
      gateways[0]!.operate('getHistory', { query: { since: '1d', step: '1h' } }),
    );
    const shown = body as { steps: readonly { at: string; requests: number }[] };
    const since = Date.parse(shown.steps[0]?.at ?? '') || world.now;
    // The current minute is not included.
    const until = Math.floor(world.now / MINUTE) * MINUTE;
    const sent = answered.filter((at) => at >= since && at < until).length;
    const found = shown.steps.reduce((sum, { requests }) => sum + requests, 0);
    return found === sent
      ? null
      : `${sent} requests in the history since ${shown.steps[0]?.at}, not ${found}`;
  }

  /**
   * `top` has all requests with keys since the time that it names, and some of its window before.
   */
  async function ranked(): Promise<string | null> {
    const { world, gateways } = simulation;
    if (disturbances.between(0, world.now, ['clock']).length > 0) return null;
    const kinds = ['outage', 'messages'] as const;
    if (disturbances.between(world.now - 2 * HOUR, world.now, kinds).length > 0) return null;
    const body = await world.settle(gateways[0]!.operate('getTop', { query: { window: 'hour' } }));
    const since = Date.parse(body.since ?? '') || world.now;
    const sent = named.filter((at) => at >= since).length;
    const most = named.filter((at) => at >= world.now - HOUR - SLICE).length;
    const isRight = body.total <= most && body.total >= sent;
    return isRight
      ? null
      : `${sent} to ${most} requests in top since ${body.since}, not ${body.total}`;
  }

  async function notified(): Promise<string | null> {
    const sent = simulation.receiver.of('ban.started').length;
    return sent <= bans.size ? null : `${bans.size} webhooks of bans, not ${sent}`;
  }

  return {
    name: 'what is reported is what happened',
    observe(fact) {
      if (fact.type === 'change') changes.push(fact.change);
      if (fact.type === 'attempt') attempts.push(fact.step);
      if (fact.type === 'answer' && fact.answer.status > 0)
        answered.push(fact.answer.respondedAt - CLIENT_DELAY);
      if (fact.type === 'answer' && fact.answer.key !== null && fact.answer.subject !== null)
        named.push(fact.answer.respondedAt);
      if (fact.type === 'event' && fact.event.type === 'ban.started') {
        const { subject, until } = fact.event.ban;
        bans.set(`${subject} ${until}`, until);
      }
      return null;
    },
    async check() {
      return (await audited()) ?? (await counted()) ?? (await ranked()) ?? (await notified());
    },
  };
};

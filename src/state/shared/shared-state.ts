import { createDelayedRun } from '../../common/delayed-run.ts';
import { Outage } from '../../common/errors/outage.ts';
import { type Admission, uncounted } from '../../limits/admission.ts';
import type { Limits } from '../../limits/limits.ts';
import { NO_SCOPES } from '../../limits/scopes.ts';
import type { Settlement } from '../../limits/settlement.ts';
import type { Observe } from '../../observe/events.ts';
import {
  type BansAsOf,
  type StartedBan,
  type State,
  startedBan,
} from '../state.ts';
import type { CircuitBreakers } from './circuit-breakers.ts';
import { createStateClock, type StateClock } from './clock.ts';
import type { LastKnownCounters } from './last-known-counters.ts';
import { createLocalCounters } from './local-counters.ts';
import { createReconciler } from './reconciliation.ts';
import { createRefusalCache } from './refusal-cache.ts';
import type {
  Bus,
  Charge,
  OutageSettings,
  RemoteState,
} from './remote-state.ts';
import { type CountedRefusals, IN_FLIGHT } from './unsent-refusals.ts';

/** Milliseconds, and subjects per flush. */
const REFUSAL_FLUSH = 250;
const MAX_FLUSHED = 1_000;

interface SharedStateOptions {
  readonly remote: RemoteState;
  readonly breakers: CircuitBreakers;
  readonly bus: Bus;
  readonly settings: Pick<
    OutageSettings,
    'onOutage' | 'shareRemaining' | 'refusalCacheTtl'
  >;
  readonly gateway: string;
  readonly gateways: () => number;
  readonly observe: Observe;
  /** Persists last-known counters; `null`: not persisted. */
  readonly lastKnown?: LastKnownCounters | null;
  /** The estimate of Redis's clock, which its responses correct. */
  readonly clock?: StateClock;
}

interface SharedState extends State {
  /** Subjects whose last admission is known. */
  readonly size: number;
  readonly unreconciled: number;
  /** `null`: no subject is known. */
  readonly bansAsOf: BansAsOf | null;
  /** Reports bans to `hear` that began with a request whose response did not include the ban. */
  onBan(listen: (ban: StartedBan) => void): void;
}

/**
 * The state for a gateway. Known refusals are decided by this process, other requests by the
 * Redis, and requests during an outage by the operator's setting. A request sees Redis
 * failure only as `Outage` under the policy `deny`.
 */
export function createSharedState({
  remote,
  breakers,
  bus,
  settings,
  gateway,
  gateways,
  clock = createStateClock(),
  lastKnown = null,
  observe,
}: SharedStateOptions): SharedState {
  let hearBan: (ban: StartedBan) => void = () => {};
  /**
   * Backend time of its last response to a request; 0: none, in this process and the previous one.
   */
  let respondedAt = 0;
  const nextFlush = createDelayedRun(() => void flushRefusals(), REFUSAL_FLUSH);

  const changed = (subject: string) => lastKnown?.mark(subject);

  const refused = createRefusalCache({
    clock: clock.read,
    ttl: settings.refusalCacheTtl,
  });
  const local = createLocalCounters({
    gateway,
    clock: clock.read,
    gateways: settings.shareRemaining ? gateways : () => 1,
    changed,
    superseded: (subject, due) => reconciler.add(subject, [due]),
  });
  const reconciler = createReconciler({
    remote,
    local,
    breakers,
    changed,
  });
  if (lastKnown) takeUp(lastKnown);
  remote.reportInDoubt({
    ...local.inDoubt,
    banned: (ban) => hearBan(ban),
  });
  const stopListening = bus.listen((message) => {
    if (message.type === 'subject') forget(message.subject, message.banned);
    else if (message.type === 'anything') refused.clear();
  });
  breakers.onRecovery(() => void reconciler.sendAll());

  function settleLocally(
    subject: string,
    limits: Limits,
    settlement: Settlement,
  ) {
    if (settings.onOutage === 'allow') return;
    local.settle(subject, limits, settlement);
    reconciler.sendLater();
  }

  /** Restores the data of an earlier process of this gateway and sends its reconciliations. */
  function takeUp(lastKnown: LastKnownCounters) {
    for (const [subject, { known: admission, dues }] of lastKnown.load()) {
      if (admission) {
        local.restore(subject, admission);
        respondedAt = Math.max(respondedAt, admission.admission.now);
      }
      reconciler.add(subject, dues);
    }
    lastKnown.begin((subject) => {
      const entry = {
        known: local.lastKnown(subject),
        dues: reconciler.dues(subject),
      };
      const isEmpty = entry.known === null && entry.dues.length === 0;
      return isEmpty ? undefined : entry;
    });
    if (reconciler.size > 0) void reconciler.sendAll();
  }

  async function ask(charge: Charge): Promise<Admission> {
    const { subject, limits, cost, scopes } = charge;
    const breaker = breakers.of(subject);
    const { changes } = refused;
    // Local counts of an outage go first, on the same connection.
    if (reconciler.has(subject)) void reconciler.sendOne(subject);
    const requestedAt = performance.now();
    try {
      const admission = await remote.admit(subject, limits, cost, scopes);
      observe({
        type: 'state.responded',
        duration: performance.now() - requestedAt,
      });
      breaker.recordSuccess();
      clock.learn(admission.now);
      respondedAt = admission.now;
      if (local.has(subject)) return held(charge, admission);
      local.note(subject, admission);
      refused.remember(charge, admission, changes);
      return admission;
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      breakers.recordFailure(breaker, error);
      reconciler.sendLater();
      return decideLocally(charge, error.cause);
    }
  }

  function held(charge: Charge, admission: Admission): Admission {
    if (admission.verdict !== 'admitted') return admission;
    const held = local.hold(charge);
    return held.verdict === 'admitted' ? admission : held;
  }

  function decideLocally(charge: Charge, cause: unknown): Admission {
    const { onOutage: policy } = settings;
    observe({ type: 'state.local_mode', policy });
    if (policy === 'deny')
      throw new Outage('state_unavailable', {
        cause: cause ?? 'the shared state is down',
      });
    if (policy === 'allow')
      return { ...uncounted(charge.limits, clock.read()), by: 'local' };
    return { ...local.admit(charge), by: 'local' };
  }

  /** A message of a ban may be older than the known ban, so it does not remove that ban. */
  function forget(subject: string, banned = false) {
    refused.forget(subject);
    if (!banned) local.forget(subject);
  }

  async function flushRefusals() {
    const unsent = refused.unsent.take(MAX_FLUSHED);
    if (unsent.length > 0) nextFlush.plan();
    await Promise.all(unsent.map(send));
  }

  /** Lost refusals are acceptable; later ones follow. */
  async function send(refusals: CountedRefusals) {
    const { subject, limits, cause } = refusals;
    const { changes } = refused;
    const breaker = breakers.of(subject);
    if (breaker.isOpen) return;
    try {
      const admission = await remote.countRefusals(refusals);
      const ban = startedBan(subject, limits, admission);
      if (ban)
        hearBan({ ...ban, violated: cause === IN_FLIGHT ? null : cause });
      if (refused.apply(refusals, admission, changes))
        local.note(subject, admission);
    } catch (error) {
      breakers.recordFailure(breaker, error);
    }
  }

  return {
    get size() {
      return local.known;
    },
    get unreconciled() {
      return reconciler.size;
    },
    onBan(listen) {
      hearBan = listen;
    },
    admit(subject, limits, cost, scopes = NO_SCOPES) {
      const charge = { subject, limits, cost, scopes };
      const refusal = refused.decide(charge);
      if (refusal) {
        nextFlush.plan();
        return refusal;
      }
      return breakers.of(subject).isOpen
        ? decideLocally(charge, null)
        : ask(charge);
    },
    /** During an outage it counts here until Redis adds it. */
    async settle(subject, limits, settlement) {
      // Returned units may admit a request that this process knows as refused.
      if (settlement.units < 0) refused.forget(subject);
      const breaker = breakers.of(subject);
      if (breaker.isOpen || local.has(subject))
        return settleLocally(subject, limits, settlement);
      try {
        await remote.settle(subject, limits, settlement);
      } catch (error) {
        if (!(error instanceof Outage)) throw error;
        breakers.recordFailure(breaker, error);
        settleLocally(subject, limits, settlement);
      }
    },
    /** The strike is sent with the next refusals; during an outage it is lost. */
    strike(subject, limits) {
      refused.unsent.add(subject, limits, IN_FLIGHT, clock.read());
      nextFlush.plan();
      return null;
    },
    look: (subject, limits) => remote.look(subject, limits),
    async liftBan(subject) {
      await remote.liftBan(subject);
      forget(subject);
    },
    async reset(subject) {
      await remote.reset(subject);
      forget(subject);
    },
    async grant(subject, limits, units, window) {
      await remote.grant(subject, limits, units, window);
      forget(subject);
    },
    bans: () => remote.bans(),
    get bansAsOf() {
      return respondedAt === 0
        ? null
        : { asOf: respondedAt, bans: local.bans() };
    },
    banLevel: (subject, limits) => remote.banLevel(subject, limits),
    async ban(subject, limits, length) {
      await remote.ban(subject, limits, length);
      forget(subject, true);
    },
    async close() {
      nextFlush.close();
      stopListening();
      await flushRefusals();
      await reconciler.close();
      await lastKnown?.close();
      await remote.close();
    },
  };
}

import type { ServedConfig } from '../../config/config.ts';
import type { DrainOptions } from '../../gateway/wire/listener.ts';
import type { Event, Observe } from '../../observe/events.ts';
import { createLog } from '../../observe/log.ts';
import type { Peers } from '../../observe/peers/peers.ts';
import type { Detection } from '../../webhooks/detector.ts';
import { hasEndpoints } from '../../webhooks/endpoints.ts';
import { optimize } from '../engine.ts';
import { openProcess, type Process, type ProcessParts } from '../process.ts';
import type { ActiveConfig } from '../reload.ts';
import { urlOf } from '../url.ts';
import {
  type Channel,
  type ChannelOptions,
  createChannel,
  type Handlers,
  NoResponse,
} from './channel.ts';
import { listenInTurn, takeOver, untilReady } from './port.ts';
import {
  type LastReport,
  type PrimaryCalls,
  type SentConfig,
  type StartOrder,
  unpacked,
  type WorkerCalls,
} from './protocol.ts';
import { flushUsage } from './usage.ts';

/** Milliseconds. */
const CALL_TIMEOUT = 5_000;

/** Milliseconds, while a supervisor starts a new primary process. */
const ABANDONED = 30_000;

const READINESS_EVENTS: ReadonlySet<Event['type']> = new Set([
  'state.outage',
  'state.recovered',
  'upstream.state',
]);

type Work = Awaited<ReturnType<typeof begin>>;

export function createWorkerProcess(send: ChannelOptions<WorkerCalls>['send']) {
  let work: Work | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let lastReport: Promise<LastReport> | null = null;
  const handlers: Handlers<WorkerCalls> = {
    start: (order) =>
      inTurn(async () => {
        work = await begin(order, primary);
        return work.url;
      }),
    use: (settings) => inTurn(async () => work?.use(settings)),
    // Only serving workers are asked.
    ask: ({ question, argument }) => work!.opened.part(question, argument),
    figures: () => work!.opened.metrics.figures(),
    usage: () => flushUsage(work!.opened.usage),
    bans: async () => (await work!.opened.storage.lastKnown?.bans()) ?? null,
    drain,
  };
  const primary = createChannel<PrimaryCalls, WorkerCalls>({
    peer: 'the primary process',
    send,
    handlers,
  });

  return {
    receive: primary.receive,
    /**
     * The primary process knows whether the whole gateway stops. If it does not respond, the worker
     * drains by itself. Resolves with whether it did so, and may exit.
     */
    async leave(): Promise<boolean> {
      try {
        await primary.call('leave', null, CALL_TIMEOUT);
        return false;
      } catch (error) {
        if (!(error instanceof NoResponse)) throw error;
        await drain({ accepting: false });
        return true;
      }
    },
    /**
     * A serving worker takes over its share of the public address until a new primary process is
     * ready; then it drains.
     */
    async abandoned(): Promise<void> {
      primary.close('its process has ended');
      // It has nothing to finish, and would wait forever for the address.
      if (!work) return;
      const { opened, adminUrl, certificates } = work;
      const { observe, serving } = opened;
      if (!lastReport) {
        observe({ type: 'primary.exited', inFlight: serving.inFlight });
        if (adminUrl !== null && (await takeOver(serving)))
          await untilReady(adminUrl, ABANDONED, certificates());
      }
      await drain({ accepting: true });
    },
  };

  function drain(options: DrainOptions): Promise<LastReport> {
    lastReport ??= inTurn(async () => {
      // An exited primary process has no socket.
      const closeShared = () =>
        primary.call('closeShared', null, CALL_TIMEOUT).catch(() => {});
      if (work === null) return { cutOff: 0, figures: [] };
      const cutOff = await work.opened.drain({ ...options, closeShared });
      await work.close();
      return { cutOff, figures: await work.opened.metrics.figures() };
    });
    return lastReport;
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  }
}

async function begin(
  order: StartOrder,
  primary: Channel<PrimaryCalls, WorkerCalls>,
) {
  let settings = await unpacked(order.settings);
  optimize();
  const { config } = settings;
  const { worker } = order;
  const log = createLog(config.log, { worker });
  let ready: Pick<Process, 'readiness'> | null = null;
  const reportReadiness = () =>
    void (
      ready &&
      primary.call('readiness', ready.readiness(), CALL_TIMEOUT).catch(() => {})
    );
  const reporting: Observe = ({ type }) => {
    if (READINESS_EVENTS.has(type)) reportReadiness();
  };
  const detectors = hasEndpoints(config.webhooks)
    ? [await detectorOf(config.webhooks.minQuotaWindow, primary)]
    : [];
  const opened = await openProcess({
    ...processParts(order, settings, primary),
    log,
    others: [...detectors, reporting],
  });
  const { serving } = opened;
  ready = opened;
  reportReadiness();
  void serving.keyring.whenReady.then(reportReadiness);

  async function close(): Promise<void> {
    await opened.end();
    await opened.close();
    log.close();
  }

  try {
    return {
      url: await listenInTurn(serving, order.fd),
      /** Also of a new primary process; `null`: the system chooses its port each time. */
      adminUrl:
        config.admin.port === 0
          ? null
          : urlOf(
              config.admin.host,
              config.admin.port,
              settings.certificates.admin !== null,
            ),
      /** In PEM; empty without TLS. */
      certificates: () =>
        (settings.certificates.admin?.pairs ?? []).map(({ cert }) => cert),
      opened,
      async use(next: SentConfig): Promise<void> {
        settings = await unpacked(next, settings);
        await opened.use(settings);
        reportReadiness();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function processParts(
  { worker, workers, ticketSecret }: StartOrder,
  settings: ActiveConfig<ServedConfig>,
  primary: Channel<PrimaryCalls, WorkerCalls>,
): Omit<ProcessParts, 'log' | 'others'> {
  return {
    settings,
    worker,
    workers,
    clock: Date.now,
    gauges: {},
    ticketSecret,
    gateway: {
      ask: (question, argument) =>
        primary
          .call('ask', { question, argument }, CALL_TIMEOUT)
          .catch(unanswered),
    },
  };
}

function unanswered(error: Error): Awaited<ReturnType<Peers['ask']>> {
  if (!(error instanceof NoResponse)) throw error;
  return { responses: [], unresponsive: [], lost: [], isolated: error.message };
}

async function detectorOf(
  quota: number,
  primary: Channel<PrimaryCalls, WorkerCalls>,
): Promise<Observe> {
  const { createDetector } = await import('../../webhooks/detector.ts');
  const receive = (detection: Detection) =>
    void primary.call('webhook', detection, CALL_TIMEOUT).catch(() => {});
  return createDetector({
    quota,
    gateway: '',
    clock: Date.now,
    onDetection: receive,
  });
}

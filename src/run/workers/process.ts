import type { ServedConfig } from '../../config/config.ts';
import type { DrainOptions } from '../../gateway/wire/listener.ts';
import type { Event, Observe } from '../../observe/events.ts';
import { createLog } from '../../observe/log.ts';
import { openRedis } from '../../state/redis/open.ts';
import type { Detection } from '../../webhooks/detector.ts';
import { hasReceivers } from '../../webhooks/endpoints.ts';
import { type Carrier, type CarrierParts, openCarrier } from '../carrier.ts';
import { optimize } from '../engine.ts';
import type { ActiveConfig } from '../reload.ts';
import { urlOf } from '../url.ts';
import { Channel, type ChannelOptions, type Handlers, NoAnswer } from './channel.ts';
import { createSharedGuard } from './guard.ts';
import { listenInTurn, takeOver, untilReady } from './port.ts';
import {
  type LastReport,
  type PrimaryCalls,
  type SentConfig,
  type StartOrder,
  unpacked,
  type WorkerCalls,
} from './protocol.ts';

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

export class WorkerProcess {
  readonly #primary: Channel<PrimaryCalls, WorkerCalls>;
  #work: Work | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #lastReport: Promise<LastReport> | null = null;

  constructor(send: ChannelOptions<WorkerCalls>['send']) {
    const handlers: Handlers<WorkerCalls> = {
      start: (order) =>
        this.#inTurn(async () => {
          this.#work = await begin(order, this.#primary);
          return this.#work.url;
        }),
      use: (settings) => this.#inTurn(async () => this.#work?.use(settings)),
      deprecated: (keyId) => this.#work?.carrier.serving.uses.deprecatedBy(keyId) ?? new Map(),
      inFlight: () => this.#work?.carrier.serving.inFlight ?? 0,
      ask: ({ question, argument }) => this.#work!.carrier.answer(question, argument),
      figures: async () => (await this.#work?.carrier.metrics.figures()) ?? [],
      drain: (options) => this.#drain(options),
    };
    this.#primary = new Channel({ peer: 'the primary process', send, handlers });
  }

  receive(message: unknown): void {
    this.#primary.receive(message);
  }

  /**
   * The primary process knows whether the whole gateway stops. If it does not respond, the worker
   * drains by itself. Resolves with whether it did so, and may exit.
   */
  async leave(): Promise<boolean> {
    try {
      await this.#primary.call('leave', null, CALL_TIMEOUT);
      return false;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      await this.#drain({ accepting: false });
      return true;
    }
  }

  /**
   * A serving worker takes over its share of the public address until a new primary process is
   * ready; then it drains.
   */
  async abandoned(): Promise<void> {
    this.#primary.close('its process has ended');
    // It has nothing to finish, and would wait forever for the address.
    if (!this.#work) return;
    const { carrier, adminUrl, certificates } = this.#work;
    const { observe, serving } = carrier;
    if (!this.#lastReport) {
      observe({ type: 'primary.exited', inFlight: serving.inFlight });
      if (adminUrl !== null && (await takeOver(serving)))
        await untilReady(adminUrl, ABANDONED, certificates());
    }
    await this.#drain({ accepting: true });
  }

  #drain(options: DrainOptions): Promise<LastReport> {
    this.#lastReport ??= this.#inTurn(async () => {
      const work = this.#work;
      // An exited primary process has no socket.
      const closeShared = () =>
        this.#primary.call('closeShared', null, CALL_TIMEOUT).catch(() => {});
      const cutOff = (await work?.carrier.serving.drain({ ...options, closeShared })) ?? 0;
      await work?.close();
      return { cutOff, figures: (await work?.carrier.metrics.figures()) ?? [] };
    });
    return this.#lastReport;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

async function begin(order: StartOrder, primary: Channel<PrimaryCalls, WorkerCalls>) {
  let settings = await unpacked(order.settings);
  optimize();
  const { config } = settings;
  const { worker } = order;
  const log = createLog(config.log, { worker });
  let carrier: Carrier | null = null;
  const reportReadiness = () =>
    void (carrier && primary.call('able', carrier.readiness, CALL_TIMEOUT).catch(() => {}));
  const reporting: Observe = ({ type }) => {
    if (READINESS_EVENTS.has(type)) reportReadiness();
  };
  const detectors = hasReceivers(config.webhooks)
    ? [await detectorOf(config.webhooks.minQuotaWindow, primary)]
    : [];
  const opened = await openCarrier({
    ...carrierParts(order, settings, primary),
    log,
    others: [...detectors, reporting],
  });
  const { serving } = opened;
  carrier = opened;
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
          : urlOf(config.admin.host, config.admin.port, settings.certificates.admin !== null),
      /** In PEM; empty without TLS. */
      certificates: () => (settings.certificates.admin?.pairs ?? []).map(({ cert }) => cert),
      carrier: opened,
      async use(next: SentConfig): Promise<void> {
        settings = await unpacked(next, settings);
        await serving.prepare(settings.contract);
        opened.use(settings);
        reportReadiness();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function carrierParts(
  { worker, workers, ticketSecret }: StartOrder,
  settings: ActiveConfig<ServedConfig>,
  primary: Channel<PrimaryCalls, WorkerCalls>,
): Omit<CarrierParts, 'log' | 'others'> {
  const { redis, audit, data: folder, http } = settings.config;
  return {
    settings,
    worker,
    clock: Date.now,
    gauges: {},
    ticketSecret,
    // Without a primary process it is lost.
    minute: (minute) => void primary.call('minute', minute, CALL_TIMEOUT).catch(() => {}),
    openStorage: (observe) => openRedis(redis!, { observe, audit, folder, worker, workers }),
    openGuard: (observe) =>
      createSharedGuard({ primary, ...http.authFailureLimit, workers, observe }),
    deprecatedAtAll: (keyId) => primary.call('deprecated', keyId, CALL_TIMEOUT),
  };
}

async function detectorOf(
  quota: number,
  primary: Channel<PrimaryCalls, WorkerCalls>,
): Promise<Observe> {
  const { createDetector } = await import('../../webhooks/detector.ts');
  const hear = (detection: Detection) =>
    void primary.call('webhook', detection, CALL_TIMEOUT).catch(() => {});
  return createDetector({ quota, gateway: '', clock: Date.now, onDetection: hear });
}

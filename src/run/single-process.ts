import { makeTicketSecret } from '@storegate/http1/tls';
import { createGuard } from '../callers/guard.ts';
import type { Config } from '../config/config.ts';
import type { Observe } from '../observe/events.ts';
import type { Storage } from '../state/storage.ts';
import { openCarrier } from './carrier.ts';
import { type Carriers, type CarriersParts, copyGauges } from './carriers.ts';

/** Rejects if the state cannot be opened. */
export async function openSingleProcess(parts: CarriersParts): Promise<Carriers> {
  const { settings, gauges, clock } = parts;
  const { config } = settings;
  const carrier = await openCarrier({
    ...parts,
    worker: null,
    gauges: { ...gauges, ...copyGauges(config, () => carrier.storage) },
    openStorage: (observe) => openStorage(config, clock, observe),
    openGuard: () => createGuard(config.http.authFailureLimit),
    ticketSecret: makeTicketSecret(),
  });
  const { observe, storage, metrics, serving, use, end, close } = carrier;
  return {
    observe,
    storage,
    metrics,
    use,
    end,
    close,
    uses: serving.uses,
    workers: 0,
    get readiness() {
      return carrier.readiness;
    },
    listen: (fd) => serving.listen({ fd }),
    ask: async (question, argument) => ({
      parts: [carrier.answer(question, argument)],
      missing: 0,
    }),
    prepare: serving.prepare,
    inFlight: () => serving.inFlight,
    drain: () => serving.drain(),
  };
}

async function openStorage(
  { redis, data, audit }: Config,
  clock: () => number,
  observe: Observe,
): Promise<Storage> {
  if (redis === null) {
    const { openEmbedded } = await import('../state/embedded/open.ts');
    return openEmbedded(data, { clock, audit, observe });
  }
  const { openRedis } = await import('../state/redis/open.ts');
  return await openRedis(redis, { observe, audit, folder: data });
}

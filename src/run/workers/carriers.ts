import { createGuard } from '../../callers/guard.ts';
import type { Config } from '../../config/config.ts';
import { toAll } from '../../observe/events.ts';
import { totalOpenMetrics, totalText } from '../../observe/exposition.ts';
import { createMetrics, type Metrics } from '../../observe/metrics.ts';
import { tracesEndpointOf } from '../../observe/tracing/tracing.ts';
import { openForWorkers } from '../../state/redis/open.ts';
import { type Carriers, type CarriersParts, copyGauges } from '../carriers.ts';
import { WorkerPool } from './pool.ts';

/**
 * The configuration must name a Redis and more than one worker. Rejects if the state cannot be
 * opened.
 */
export async function openWorkers(parts: CarriersParts): Promise<Carriers> {
  const { config } = parts.settings;
  const own = createMetrics({
    workers: () => pool.serving,
    ...parts.gauges,
    droppedLines: () => parts.log.droppedLines,
    ...copyGauges(config, () => storage),
  });
  const observe = toAll(own.observe, parts.log.observe, ...parts.others);
  const storage = await openForWorkers(config.redis!, {
    observe,
    audit: config.audit,
    folder: config.data,
  });
  const pool = new WorkerPool({
    ...parts,
    guard: createGuard(config.http.authFailureLimit),
    observe,
  });
  const drain = () => pool.drain();
  return {
    observe,
    storage,
    uses: { lastUsed: async (ids) => await storage.uses.load(ids) },
    metrics: metricsOfAll(own, pool, config),
    workers: config.workers,
    get readiness() {
      return pool.readiness;
    },
    listen: (fd) => pool.start(fd),
    ask: (question, argument) => pool.ask(question, argument),
    // Each worker prepares its own contract.
    prepare: async () => {},
    use: (settings) => pool.use(settings),
    inFlight: () => pool.inFlight(),
    drain,
    end: drain,
    close: async () => storage.close(),
  };
}

function metricsOfAll(
  own: Metrics,
  pool: Pick<WorkerPool, 'figures'>,
  { tracing }: Pick<Config, 'tracing'>,
): Carriers['metrics'] {
  return {
    contentType: own.contentType,
    text: async () => totalText(await own.figures(), await pool.figures()),
    openMetrics:
      tracesEndpointOf(tracing) === null
        ? null
        : async () => totalOpenMetrics(await own.figures(), await pool.figures()),
  };
}

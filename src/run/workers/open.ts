import { createGuard } from '../../common/callers/guard.ts';
import type { Config } from '../../config/config.ts';
import { accessTo } from '../../ledger/ledger.ts';
import { toAll } from '../../observe/events.ts';
import { totalOpenMetrics, totalText } from '../../observe/exposition.ts';
import { createMetrics, type Metrics } from '../../observe/metrics.ts';
import { tracesEndpointOf } from '../../observe/tracing/tracing.ts';
import { openForWorkers } from '../../records/redis/open.ts';
import { copyGauges, type Processes, type ProcessesParts } from '../processes.ts';
import { WorkerPool } from './pool.ts';

/**
 * The configuration must name a Redis and more than one worker. Rejects if the state cannot be
 * opened.
 */
export async function openWorkers(parts: ProcessesParts): Promise<Processes> {
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
    ledger: accessTo(storage.ledger, null, (warning) =>
      observe({ type: 'state.warning', warning }),
    ),
    uses: { lastUsed: async (ids) => await storage.uses.load(ids) },
    metrics: metricsOfAll(own, pool, config),
    readiness: () => pool.readiness,
    listen: (fd) => pool.start(fd),
    ask: (question, argument) => pool.ask(question, argument),
    use: (settings) => pool.use(settings),
    drain,
    end: drain,
    close: async () => storage.close(),
  };
}

function metricsOfAll(
  own: Metrics,
  pool: Pick<WorkerPool, 'figures'>,
  { tracing }: Pick<Config, 'tracing'>,
): Processes['metrics'] {
  return {
    contentType: own.contentType,
    text: async () => totalText(await own.figures(), await pool.figures()),
    openMetrics:
      tracesEndpointOf(tracing) === null
        ? null
        : async () => totalOpenMetrics(await own.figures(), await pool.figures()),
  };
}

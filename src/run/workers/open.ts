import { accessTo } from '../../ledger/ledger.ts';
import { toAll } from '../../observe/events.ts';
import { totalOf } from '../../observe/exposition.ts';
import { createMetrics } from '../../observe/metrics.ts';
import { tracesEndpointOf } from '../../observe/tracing/tracing.ts';
import { openForWorkers } from '../../records/redis/open.ts';
import {
  copyGauges,
  type Processes,
  type ProcessesParts,
} from '../processes.ts';
import { bansOfAll } from './bans.ts';
import { createWorkerPool } from './pool.ts';
import { usageOfWorkers } from './usage.ts';

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
    bans: async () => bansOfAll(await pool.bans()),
  });
  const pool = createWorkerPool({
    ...parts,
    observe,
  });
  return {
    observe,
    storage,
    ledger: accessTo(
      storage.ledger,
      usageOfWorkers(() => pool.usage()),
      (warning) => observe({ type: 'state.warning', warning }),
    ),
    uses: { lastUsed: async (ids) => storage.uses.load(ids) },
    metrics: {
      exemplars: tracesEndpointOf(config.tracing) !== null,
      figures: async () => totalOf(await own.figures(), await pool.figures()),
    },
    readiness: () => pool.readiness,
    listen: pool.start,
    ask: pool.ask,
    use: pool.use,
    drain: pool.drain,
    end: pool.drain,
    close: storage.close,
  };
}

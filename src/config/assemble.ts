import { availableParallelism, totalmem } from 'node:os';
import type { Plans } from '../limits/plans.ts';
import type { GatewaySettings } from './config.generated.ts';
import {
  type Config,
  largestBody,
  MIN_BODY_BUDGET,
  type RedisSettings,
} from './config.ts';
import { converted, mapped, type Surroundings } from './conversions.ts';
import type { PageFiles } from './page-files.ts';
import { schemaOf } from './schema/schema.ts';
import { documentOf, type Settings } from './settings.ts';
import { parseSize } from './units.ts';
import { upstreamOf, upstreamsIn } from './upstreams.ts';

interface Parts extends Surroundings {
  readonly plans: Plans;
  /** Absolute. */
  readonly gateway: string;
  /** Absolute. */
  readonly otherFiles: readonly string[];
  readonly pageFiles: PageFiles;
}

/** Of the gateway, or of one API: only what a conversion by the schema cannot express. */
export function assemble(
  settings: Settings,
  { plans, gateway, otherFiles, pageFiles, ...around }: Parts,
): Omit<Config, 'apis'> {
  const written = {
    ...documentOf(settings),
    upstreams: upstreamsIn(settings),
    apis: [],
  };
  const all = converted(
    written,
    schemaOf('gateway'),
    around,
  ) as GatewaySettings;
  const { apis: _entries, ...own } = all;
  const { contract, http, redis, upstream, upstreams, workers } = own;
  return {
    ...own,
    workers: workersOf(workers, redis.url !== null),
    redis: redis.url === null ? null : (redis as RedisSettings),
    upstream: upstreamOf(upstream),
    upstreams: mapped(upstreams, upstreamOf),
    contract: contract as Config['contract'],
    plans,
    http: { ...http, bodyBudget: budgetOf(http.bodyBudget, largestBody(all)) },
    reference: { ...all.reference, ...pageFiles },
    files: { gateway, plans: all.plans.file!, others: otherFiles },
  };
}

const MAX_WORKERS = 256;

/** In bytes; the system reads files for it. */
const MEMORY = Math.min(
  totalmem(),
  process.constrainedMemory() || Number.POSITIVE_INFINITY,
);

/** Embedded state belongs to one process. */
function workersOf(workers: number | 'auto', shared: boolean): number {
  if (workers !== 'auto') return workers;
  return shared ? Math.min(availableParallelism(), MAX_WORKERS) : 1;
}

/**
 * A sixty-fourth of the memory of this process, 8 to 16 MiB; more only if single bodies may be that
 * large.
 */
function budgetOf(written: string | number, largest: number): number {
  if (written !== 'auto') return parseSize(written)!;
  const share = Math.min(Math.max(MEMORY / 64, 8 * 1024 ** 2), 16 * 1024 ** 2);
  return Math.max(Math.floor(share), MIN_BODY_BUDGET * largest);
}

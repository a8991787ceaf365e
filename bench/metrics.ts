import { Counter, Histogram, Registry } from 'prom-client';
import { expositionOf, OPEN_METRICS, TEXT } from '../src/observe/exposition.ts';
import { createMetrics } from '../src/observe/metrics.ts';
import { CARRYING } from '../test/support/gauges.ts';
import { requestEvent } from '../test/support/request-event.ts';
import { spread } from './statistics.ts';

/**
 * CPU of a request in the metrics, and of a scrape with 10,000 series: the gateway's counters and
 * those of prom-client.
 */

const OPERATIONS = 290;
const REQUESTS = 300_000;
const ROUNDS = 9;

const events = Array.from({ length: OPERATIONS }, (_, i) =>
  requestEvent({ operation: `operation${i}` }),
);
const own = createMetrics(CARRYING, undefined, { exemplars: true });
const registry = new Registry();
const registers = [registry];
const counters = ['operation,method,status', 'plan,verdict', 'plan,result'].map(
  (labels, i) =>
    new Counter({ name: `n${i}_total`, help: 'n', labelNames: labels.split(','), registers }),
);
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const histograms = ['request', 'upstream'].map(
  (name) => new Histogram({ name, help: name, labelNames: ['operation'], buckets, registers }),
);

function countByLibrary({ operation, method, status, plan }: (typeof events)[number]): void {
  counters[0]!.inc({ operation, method, status });
  counters[1]!.inc({ plan: plan!, verdict: 'admitted' });
  counters[2]!.inc({ plan: plan!, result: 'answered' });
  for (const histogram of histograms) histogram.observe({ operation }, 0.003);
}

async function measure(name: string, per: number, work: () => unknown): Promise<void> {
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    if (round > 0) rounds.push((user + system) / per);
  }
  const { min, median } = spread(rounds);
  console.log(name.padEnd(40), `${min.toFixed(2)} µs, median ${median.toFixed(2)}`);
}

function count(observe: (event: (typeof events)[number]) => void): void {
  for (let i = 0; i < REQUESTS; i++) observe(events[i % OPERATIONS]!);
}

await measure('request, own counters', REQUESTS, () => count(own.observe));
await measure('request, prom-client', REQUESTS, () => count(countByLibrary));
const exposition = async (type: typeof TEXT | typeof OPEN_METRICS) =>
  expositionOf(await own.figures(), type);
await measure('scrape, own counters, text', 1, () => exposition(TEXT));
await measure('scrape, own counters, OpenMetrics', 1, () => exposition(OPEN_METRICS));
await measure('scrape, prom-client, text', 1, () => registry.metrics());
process.exit();

/**
 * Several regions in virtual time, with the rules of the gateway: what each way to share limits
 * admits too much and too little, and what Redis does for it. A few minutes:
 *
 *     node --disable-warning=ExperimentalWarning bench/regions.ts
 *
 * A few keys send most requests (Zipf's law). Each key has the smallest plan that admits all its
 * requests; a tenth have the plan below. Counters exist only for keys that have sent a request.
 * *Too much* and *too little* compare each key with one Redis for all regions, which is exact;
 * *remote* is the share of requests that wait for a Redis in another region. The last four columns
 * are of the busiest Redis; its CPU is an upper bound.
 */
import { parseArgs } from 'node:util';
import {
  type Deployment,
  Leases,
  OneRedis,
  OneRedisFails,
  RedisPerRegion,
} from './regions/deployments.ts';
import { requests, type World } from './regions/traffic.ts';

const { values } = parseArgs({
  options: {
    regions: { type: 'string', default: '4' },
    gateways: { type: 'string', default: '100' },
    keys: { type: 'string', default: '10000000' },
    rate: { type: 'string', default: '50000' },
    seconds: { type: 'string', default: '120' },
    home: { type: 'string', default: '0.9,0' },
  },
});
const [regions, gateways, keys, rate, seconds] = [
  values.regions,
  values.gateways,
  values.keys,
  values.rate,
  values.seconds,
].map(Number) as [number, number, number, number, number];
if (gateways % regions !== 0) throw new Error('--gateways takes a multiple of --regions');
if (!(seconds >= 120))
  throw new Error('--seconds takes 120 or more: the last minute is the outage');

/**
 * Microseconds of Redis per call and per admission: bench/RESULTS.md, State in Redis, 1 and 20 at a
 * time.
 */
const [CALL, ADMISSION] = [64, 6.3];
/** Bytes: bench/RESULTS.md, State in Redis. */
const [SUBJECT, KEY] = [193, 724];

console.log(`${gateways} gateways in ${regions} regions, ${rate} requests/s for ${seconds} s`);
console.log(`${keys} keys: ${megabytes(keys * KEY)} MB in each Redis`);
for (const home of values.home.split(',').map(Number))
  compare({ regions, gateways, keys, rate, seconds, home });

function compare(world: World): void {
  console.log(
    `\n${Math.round(world.home * 100)} % of a key's requests come from its own region, the others from any\n`,
  );
  console.log(
    '| deployment | too much | most for one key | too little | remote | admissions/s | calls/s | CPU | counters |',
  );
  console.log('|---|--:|--:|--:|--:|--:|--:|--:|--:|');
  const exact = run(new OneRedis(world), world, null);
  run(new RedisPerRegion(world, { divided: false }), world, exact);
  run(new RedisPerRegion(world, { divided: true }), world, exact);
  run(new Leases(world), world, exact);
  run(new OneRedisFails(world), world, exact);
}

/** Returns the admitted requests per key. */
function run(deployment: Deployment, world: World, exact: Uint32Array | null): Uint32Array {
  const admitted = new Uint32Array(world.keys + 1);
  for (const request of requests(world)) if (deployment.admit(request)) admitted[request.key]!++;
  const { much, most, little } = differences(admitted, exact ?? admitted);
  const busiest = deployment.redis.reduce((one, other) =>
    other.decisions > one.decisions ? other : one,
  );
  const cells = [
    deployment.name,
    percent(much),
    `${most.toFixed(2)} ×`,
    percent(little),
    percent(deployment.remote / (world.rate * world.seconds)),
    perSecond(busiest.decisions),
    perSecond(busiest.calls),
    `${((busiest.calls * CALL + busiest.decisions * ADMISSION) / (world.seconds * 1e6)).toFixed(1)} cores`,
    `${megabytes(busiest.subjects * SUBJECT)} MB`,
  ];
  console.log(`| ${cells.join(' | ')} |`);
  return admitted;
}

/** Shares of what is admitted exactly. */
function differences(admitted: Uint32Array, exact: Uint32Array) {
  let [much, most, little, all] = [0, 1, 0, 0];
  for (const [key, right] of exact.entries()) {
    const here = admitted[key]!;
    all += right;
    much += Math.max(0, here - right);
    little += Math.max(0, right - here);
    if (here > right) most = Math.max(most, here / right);
  }
  return { much: much / all, most, little: little / all };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function perSecond(count: number): string {
  return Math.round(count / seconds).toLocaleString('en');
}

function megabytes(bytes: number): string {
  return Math.round(bytes / 1e6).toLocaleString('en');
}

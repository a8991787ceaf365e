import { figureTable } from '../markdown.ts';
import type { Results } from '../results.ts';
import { type Blocks, IN_REDIS, perSecond, RECORDS, SINGLE } from './block.ts';

export const scaling: Blocks = { redis, regions, leases, outage };

const REGIONS = 'Regions';
/** The tables of REGIONS, by the origin of a key's requests. */
const HOME = 0;
const EVERYWHERE = 1;

/** The row of SINGLE about gateways that share one Redis. */
const CALLS = 'admissions of 100 gateways, one per call';
const DATE = /(\d{4}-\d\d-\d\d)/;

/** Microseconds of CPU in Redis for each admission, with 1, 20 and 200 admissions per call. */
function admissionsOf(results: Results): readonly (readonly number[])[] {
  const gateways = results.match(
    SINGLE,
    /one per call \| (\d+) µs of CPU in Redis each; (\d+) µs .*; (\d+) µs .* 20 per call \|/,
  );
  const [hundred, ten, tenTogether] = gateways.map(Number);
  const [one, twenty, many] = [1, 20, 200].map((together) => {
    return results.number(IN_REDIS, `admitted, ${together} at a time`, 'Redis');
  });
  return [[one!, hundred!, ten!], [twenty!, tenTogether!], [many!]];
}

function redis(results: Results): string {
  return `${admissionTable(results)}

${measuredOn(results)} So before anything else run
fewer, busier processes. Requests that are known to be refused cost Redis nothing.

- Redis is the limit if its process uses 70 % of a core, or \`StoregateStateSlow\` fires.
- Use a [Cluster](redis.md#use-sentinel-or-a-cluster) if one Redis lacks memory, or CPU although
  processes are busy. In a Cluster a call has one subject, so each master carries only what the
  first row says.

${keySizes(results)}`;
}

function admissionTable(results: Results): string {
  const titles = ['1: many processes, each with little traffic', '20', '200: few busy processes'];
  const rows = admissionsOf(results).map((micros, i) => {
    const [least, most] = [Math.min(...micros), Math.max(...micros)];
    const carried = range(perSecond(most), perSecond(least));
    return [titles[i]!, `${range(least, most)} µs`, `${carried} per second`];
  });
  const head = ['admissions per call', 'CPU of Redis for each', 'one Redis carries'];
  return figureTable(head, rows);
}

/** The source of the figures that admissionsOf returns. */
function measuredOn(results: Results): string {
  const [first] = results.match(IN_REDIS, DATE);
  const [second] = results.cell(SINGLE, CALLS, 'date').split(',');
  return `([State in Redis](../bench/RESULTS.md#state-in-redis), ${first} and ${second}.)`;
}

type Bound = number | string;

const range = (from: Bound, to: Bound): string => (from === to ? `${from}` : `${from} to ${to}`);

/** From measurements of a million keys. */
function keySizes(results: Results): string {
  const [active] = results.match(IN_REDIS, /takes (\d+) bytes in Redis/);
  const [stored, cached] = ['memory of Redis', 'size of `records.db`'].map((row) =>
    results.number(RECORDS, row, 'a million keys'),
  );
  const [seconds] = results.match(RECORDS, /copy is whole .*, ([\d.]+) s of CPU \|\n/);
  const gigabytes = (bytes: number | undefined) => (bytes! / 100).toFixed(1);
  return `Ten million keys take ${gigabytes(stored)} GB in Redis, active ones ${active} bytes more
each, and ${gigabytes(cached)} GB in the [key cache](failure-modes.md#the-key-cache) of each gateway.
A gateway with an empty data folder reads a million keys once, in ${Math.round(Number(seconds))} s of CPU, and serves
requests meanwhile. After a restart it reads only what changed: keep the data folder.`;
}

const DEPLOYMENTS = {
  'one Redis': 'one Redis',
  'per region, the same plans': 'Redis per region, whole limits',
  'per region, divided': 'Redis per region, divided limits',
};

function regions(results: Results): string {
  const [four, gateways] = results.match(REGIONS, /(\w+) regions with (\d+) gateways each/);
  const [date] = results.match(REGIONS, DATE);
  const [rate] = results.match(REGIONS, /([\d,]+) requests per second/);
  const [population] = results.match(REGIONS, /over (\d+ million keys)/);
  const [home] = results.match(REGIONS, /^(\d+ %) of a key's requests come from its own region/m);
  const rows = Object.entries(DEPLOYMENTS).map(([title, deployment]) => [
    title,
    ...sharesOf(results, deployment, HOME),
    ...sharesOf(results, deployment, EVERYWHERE),
    remoteOf(results, deployment),
  ]);
  const head = ['', ...columnsOf('home'), ...columnsOf('everywhere'), 'waits for another region'];
  return `[Simulated](../bench/RESULTS.md#regions) on ${date} with the gateway's rules:
${four!.toLowerCase()} regions with ${gateways} gateways each, ${population}, ${rate} requests per
second, a tenth of the busy keys above their plan. Shares are of what one Redis admits.

${figureTable(head, rows)}

*home*: ${home} of a key's requests come from one region; *everywhere*: from all regions alike.`;
}

const columnsOf = (origin: string): string[] => [`${origin}: too much (one key)`, 'too little'];

function sharesOf(results: Results, deployment: string, table: number): string[] {
  const much = results.cell(REGIONS, deployment, 'too much', table);
  const most = results.cell(REGIONS, deployment, 'most for one key', table);
  return [`${much} (${most})`, results.cell(REGIONS, deployment, 'too little', table)];
}

/** The share of requests that wait for another region, with both origins. */
function remoteOf(results: Results, deployment: string): string {
  const shares = [HOME, EVERYWHERE].map((table) => {
    return Number.parseFloat(results.cell(REGIONS, deployment, 'remote', table));
  });
  return `${range(Math.min(...shares), Math.max(...shares))} %`;
}

function leases(results: Results): string {
  const leased = 'Redis per region, leased limits';
  const much = results.cell(REGIONS, leased, 'too much');
  const little = results.cell(REGIONS, leased, 'too little');
  return `storegate does not lease units from one region to another. In the simulation leases of a
sixteenth of a limit admit ${much} too much and, with *home* traffic, ${little} too little, but
${remoteOf(results, leased)} of the requests still wait for another region, because most keys
send little and need a lease for their first request.`;
}

function outage(results: Results): string {
  const down = 'one Redis, down in the last minute';
  const missing = results.cell(REGIONS, down, 'too little', HOME);
  const most = results.cell(REGIONS, down, 'most for one key', EVERYWHERE);
  return `- A client that reaches a quarter of them gets a quarter: with *home* traffic
  ${missing} of the admissions of two minutes are missing after one minute of outage.
- A gateway that does not know a client gives it a whole share, so a client that reaches all of them
  can exceed its limit: ${most} in the simulation.`;
}

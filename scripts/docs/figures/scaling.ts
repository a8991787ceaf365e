import { figureTable } from '../markdown.ts';
import type { Results } from '../results.ts';
import { type Blocks, IN_REDIS, perSecond, RECORDS, SINGLE } from './block.ts';

export const scaling: Blocks = { redis };

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

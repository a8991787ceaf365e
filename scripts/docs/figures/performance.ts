import { figureTable, tableRow } from '../markdown.ts';
import type { Results } from '../results.ts';
import {
  type Blocks,
  cpuOf,
  EMBEDDED,
  EXPRESS,
  explained,
  GET,
  IN_REDIS,
  LUA,
  NGINX,
  noteOf,
  POST,
  perSecond,
  RECORDS,
  REDIS,
  REFUSED,
  REPEATED,
  rowOf,
  runOf,
  UNKNOWN,
} from './block.ts';

export const performance: Blocks = { summary, peers, costs, capacity };

const POST_1M = 'admitted POST, 1 MB of JSON';
const LATENCY = 'Latency at 500 evenly paced GETs a second';

function summary(results: Results): string {
  const cpu = (target: string) =>
    `${cpuOf(results, GET, target).toFixed(1)} µs${noteOf(results, GET, target)}`;
  const times = (target: string) => results.cell(GET, rowOf(results, GET, target), '×');
  return explained(`A forwarded GET costs ${cpu(EMBEDDED)} of CPU with the embedded state and
${cpu(REDIS)} with Redis, ${times(EMBEDDED)} and ${times(REDIS)} times as much as nginx as a
bare proxy. nginx with keys and limits in Lua and Redis needs ${cpu(LUA)}, the usual Express
stack with the same checks ${cpu(EXPRESS)}.`);
}

const PEERS = [LUA, EMBEDDED, REDIS, EXPRESS];
/** NGINX and PEERS, as the table of latencies calls them. */
const LATENCIES = ['nginx', 'nginx-lua-redis', 'storegate', 'storegate-redis', 'usual'];

function peers(results: Results): string {
  const costs = (work: string) => PEERS.map((target) => costOf(results, work, target));
  const added = (column: string) =>
    LATENCIES.map((target) => `${results.cell(LATENCY, target, column)} ms`);
  const refused = `${costOf(results, REFUSED, 'nginx limit_req')} (\`limit_req\`)`;
  const [connections] = results.match('Comparison', /(\d+) connections\./);
  const [node] = results.match('Comparison', /Versions: (node [\d.]+)/);
  const rows = [
    ['GET, admitted', costOf(results, GET, NGINX), ...costs(GET)],
    ['POST, 200 bytes of JSON', costOf(results, POST, NGINX), ...costs(POST)],
    ['429 or 403', refused, ...costs(REFUSED)],
    ['401', '–', ...costs(UNKNOWN)],
    ['added latency, p50', ...added('added p50')],
    ['added latency, p99', ...added('added p99')],
  ];
  return `${explained(figureTable(['CPU per request', 'nginx', ...PEERS], rows))}

${runOf(results)}, ${node}, one core for each proxy, ${connections} connections.
*+* is CPU of Redis. nginx + Lua checks no body. ${slower(results)}`;
}

/** One request of a hundred waits for the batch of admissions before its own. */
function slower(results: Results): string {
  const [own, peer] = ['storegate-redis', 'usual'].map((target) =>
    results.number(LATENCY, target, 'p99 ms'),
  );
  const isAhead = peer! < own!;
  return `With Redis the p99 of
storegate is ${own} ms, that of the usual stack ${peer} ms${isAhead ? ', which is ahead there' : ''}.`;
}

/** CPU of the gateway and of Redis, such as `29.9 + 3.1 µs`. */
function costOf(results: Results, work: string, target: string): string {
  const redis = Number(results.cell(work, rowOf(results, work, target), 'Redis µs'));
  const gateway = cpuOf(results, work, target).toFixed(1);
  const cost = redis === 0 ? `${gateway} µs` : `${gateway} + ${redis.toFixed(1)} µs`;
  return `${cost}${noteOf(results, work, target)}`;
}

function costs(results: Results): string {
  const [line] = results.match(REPEATED, /a line of the access log \| ([\d.]+ µs)/);
  const checked = cpuOf(results, POST_1M, EMBEDDED) / 1_000;
  const alone = cpuOf(results, POST_1M, 'JSON.parse and ajv alone') / 1_000;
  const [neighbour] = results.match(REPEATED, /8 connections with 0\.7 MB .*? \| p99 ([\d.]+) ms/);
  const [connections, target, upstream] = results.match(
    REPEATED,
    /mounts, (\d+) connections \| with a `target` (\d+) µs .* `upstream` (\d+) µs/,
  );
  return `- A line of the access log costs ${line}.
${tls(results)}
- A POST of 1 MB of JSON costs ${checked.toFixed(1)} ms, \`JSON.parse\` and ajv alone ${alone.toFixed(1)} ms. Large
  bodies are parsed and checked in turns: another client beside 8 connections with 0.7 MB each had a
  p99 of ${neighbour} ms. Keep \`x-max-body-bytes\` small.
- A mount with a \`target\` costs ${target} µs on ${connections} connections, a mount with an
  \`upstream\` ${upstream} µs.`;
}

function tls(results: Results): string {
  const kept = results.match(REPEATED, /kept connection \| (\d+) µs of CPU in place of (\d+)/);
  const opened = results.match(REPEATED, /per request \| (\d+) µs.*; (\d+) µs without TLS/);
  const [perRequest, perConnection] = [kept, opened].map(([secure, plain]) => {
    return Number(secure) - Number(plain);
  });
  return `- TLS costs ${perRequest} µs per request on kept connections, and ${perConnection} µs
  per new connection. Clients should keep connections open.`;
}

function capacity(results: Results): string {
  const carried = (target: string) => perSecond(cpuOf(results, GET, target));
  const [ready] = results.match(REPEATED, /(\d+ MiB) when ready/);
  const [million] = results.match(REPEATED, /a million keys in an hour.* to (\d+ MiB)/);
  const [subject] = results.match('A million subjects', /(\d+ bytes) per active subject/);
  const [active] = results.match(IN_REDIS, /takes (\d+ bytes) in Redis/);
  const stored = `${results.number(RECORDS, 'memory of Redis', 'a million keys')} bytes`;
  const gets = `${carried(EMBEDDED)} admitted GETs per second, ${carried(REDIS)} with Redis`;
  const sizes = `${active} per active key, ${stored} per stored key`;
  const rows = [
    ['CPU', `a core carries ${gets}; at 70 % add workers (\`workers\`, with Redis) or gateways`],
    ['memory', `${ready} when ready, ${million} with a million keys in an hour (embedded state)`],
    ['memory for counters', `${subject} per active key (embedded state)`],
    ['memory for bodies', '`http.bodyBudget`, and as much again for responses to slow clients'],
    ['Redis', `[CPU by admissions per call](scaling.md#find-the-limit-of-redis); ${sizes}`],
  ];
  return ['| resource | need |', '|---|---|', ...rows.map(tableRow)].join('\n');
}

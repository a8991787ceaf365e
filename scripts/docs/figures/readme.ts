import { figureTable } from '../markdown.ts';
import type { Results } from '../results.ts';
import {
  type Blocks,
  cpuOf,
  EMBEDDED,
  EXPRESS,
  explained,
  GET,
  LUA,
  NGINX,
  noteOf,
  POST,
  perSecond,
  REDIS,
  REFUSED,
  REPEATED,
  rowOf,
  runOf,
} from './block.ts';

export const readme: Blocks = { capacity };

function capacity(results: Results): string {
  const carried = (work: string) =>
    [EMBEDDED, REDIS, LUA, EXPRESS].map(
      (target) => perSecond(cpuOf(results, work, target)) + noteOf(results, work, target),
    );
  const inRedis = (target: string) => results.cell(GET, rowOf(results, GET, target), 'Redis µs');
  const [restarts] = results.match(REPEATED, /^\| rolling restarts .+? \| (.+?) \|/m);
  const [hanging] = results.match('Backend outages', /^\| 2 \| hangs \| (.+?) \|/m);
  const head = ['', 'storegate', 'storegate, Redis', LUA, 'usual Express stack'];
  const rows = [
    ['GET', ...carried(GET)],
    ['POST, 200 bytes', ...carried(POST)],
    ['429 or 403', ...carried(REFUSED)],
  ];
  const alone = perSecond(cpuOf(results, GET, NGINX));
  return `Requests per second that one core carries: 1 s / CPU time of a request
(\`npm run bench\`, ${runOf(results)}).

${explained(figureTable(head, rows))}

nginx + Lua checks no bodies; nginx alone carries ${alone} GETs. Redis needs ${inRedis(REDIS)},
${inRedis(LUA)} and ${inRedis(EXPRESS)} µs of another core per GET.

- Rolling restarts behind HAProxy: ${restarts}.
- One of two backends hangs: ${hanging}.`;
}

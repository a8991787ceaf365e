/**
 * A client beside attacks on what clients share, and beside floods (bench/neighbours/):
 *
 *     node --disable-warning=ExperimentalWarning bench/neighbours.ts \
 *       [--before COMMIT] [--nginx] [--only PART]
 *
 * `--before` measures a commit in the same run, `--nginx` nginx where it shares the same thing.
 * `--only` takes part of a name, such as `upstream` or `large bodies`, and may be repeated. Each
 * attack has a process of its own, and meets a new gateway. The client sends `--rate` requests a
 * second for `--seconds`. Cells: failed requests, and milliseconds p50 / p99 / longest.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Children } from './children.ts';
import { ATTACKS, type Attack } from './neighbours/attacks.ts';
import { nginx, type Start, startBackend, storegate } from './neighbours/gateways.ts';
import { outcomes, PacedClient, summary, type Timed } from './pace.ts';
import { checkouts } from './surroundings.ts';

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    nginx: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [''] },
    connections: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '10' },
    rate: { type: 'string', default: '20' },
  },
});
/** So many at once that the client has idle connections. */
const WARM_UP = { rate: 1_000, isOver: (sent: number) => sent === 20 };
/** Milliseconds. */
const PATIENCE = 12_000;
const OPEN_WITHIN = 20_000;
const EFFECT_WITHIN = 1_500;

const rate = Number(values.rate);
const count = Number(values.seconds) * rate;
const attacks = ATTACKS.filter(({ name }) => values.only.some((part) => name.includes(part)));
if (attacks.length === 0)
  throw new Error(`--only has no part of ${ATTACKS.map(({ name }) => `"${name}"`).join(', ')}`);
const children = new Children();
try {
  const backend = await startBackend(children);
  const gateways: [string, Start][] = [];
  for (const { name, folder } of checkouts(values.before, children.folder))
    gateways.push([name, await storegate(name, folder, backend)]);
  if (values.nginx) gateways.push(['nginx', nginx(backend)]);
  console.log(`${availableParallelism()} cores, load before the run ${loadavg()[0]!.toFixed(1)}\n`);
  const head = ['attack', 'client sends', ...gateways.map(([name]) => name)];
  printRow(head);
  printRow(head.map(() => '---'));
  for (const attack of attacks) {
    const columns: string[][] = [];
    for (const [name, start] of gateways)
      columns.push(attack.nginx || name !== 'nginx' ? await measure(attack, start) : []);
    for (const [i, { name }] of attack.questions.entries())
      printRow([attack.name, name, ...columns.map((cells) => cells[i] ?? '–')]);
  }
} finally {
  await children.close();
}
process.exit();

/** Returns a cell for each question. */
async function measure({ name, setup, questions }: Attack, start: Start): Promise<string[]> {
  const own = new Children();
  const attacker = fork(join(import.meta.dirname, 'neighbours/attacker.ts'));
  try {
    const { port, keys } = await start(own, setup);
    const client = new PacedClient(port, PATIENCE);
    for (const { request, fresh } of questions)
      await client.run(request(keys.client), { ...WARM_UP, fresh });
    attacker.send({ name, target: { port, keys, connections: Number(values.connections) } });
    await Promise.race([once(attacker, 'message'), pause(OPEN_WITHIN)]);
    await pause(EFFECT_WITHIN);
    const isOver = (sent: number) => sent === count;
    const timed = await Promise.all(
      questions.map(({ request, fresh }) =>
        client.run(request(keys.client), { rate, isOver, fresh }),
      ),
    );
    if (attacker.exitCode !== null) throw new Error(`the attack "${name}" ended early`);
    client.close();
    return timed.map(cellOf);
  } finally {
    if (attacker.kill('SIGKILL')) await once(attacker, 'exit');
    await own.close();
  }
}

function cellOf(timed: readonly Timed[]): string {
  const failed = timed.filter(({ outcome }) => !/^HTTP\S+ 2/.test(outcome));
  const times = summary(timed).map((time) => time.toFixed(time < 100 ? 1 : 0));
  return `${outcomes(failed) || '0'} · ${times.join(' / ')}`;
}

function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

/**
 * A client beside attacks on what clients share, and beside floods (bench/neighbours/):
 *
 *     node --disable-warning=ExperimentalWarning bench/neighbours.ts \
 *       [--before COMMIT] [--nginx] [--only PART] [--connections N]
 *
 * `--before` measures a commit in the same run, `--nginx` nginx where it shares the same thing.
 * `--connections` are those of a flood.
 * `--only` takes part of a name, such as `upstream` or `large bodies`. Each attack has a process of
 * its own, and meets a new gateway. Cells: failed requests, and milliseconds p50 / p99 / longest.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Children } from './children.ts';
import { ATTACKS, type Attack } from './neighbours/attacks.ts';
import { KEYS, nginx, type Start, startBackend, storegate } from './neighbours/gateways.ts';
import { readOptions } from './options.ts';
import { outcomes, PacedClient, type Timed, timesOf } from './pace.ts';
import { checkouts } from './surroundings.ts';
import { printHead, printRow } from './table.ts';

const initial = { before: null, nginx: false, only: null, connections: 16 };
const { before, only, connections, ...options } = readOptions(initial);
/** So many at once that the client has idle connections. */
const WARM_UP = { rate: 1_000, isOver: (sent: number) => sent === 20 };
/** Milliseconds. */
const PATIENCE = 12_000;
const OPEN_WITHIN = 20_000;
const EFFECT_WITHIN = 1_500;

const PACE = { rate: 20, isOver: (sent: number) => sent === 200 };

const attacks = ATTACKS.filter(({ name }) => name.includes(only ?? ''));
if (attacks.length === 0)
  throw new Error(`--only has no part of ${ATTACKS.map(({ name }) => `"${name}"`).join(', ')}`);
const children = new Children();
try {
  const backend = await startBackend(children);
  const gateways: [string, Start][] = [];
  for (const { name, folder } of checkouts(before, children.folder))
    gateways.push([name, storegate(name, folder, backend)]);
  if (options.nginx) gateways.push(['nginx', nginx(backend)]);
  console.log(`${availableParallelism()} cores, load before the run ${loadavg()[0]!.toFixed(1)}\n`);
  printHead('attack', 'client sends', ...gateways.map(([name]) => name));
  for (const attack of attacks) {
    const columns: string[][] = [];
    for (const [name, start] of gateways)
      columns.push(attack.nginx || name !== 'nginx' ? await measure(attack, start) : []);
    for (const [i, { name }] of attack.questions.entries())
      printRow(attack.name, name, ...columns.map((cells) => cells[i] ?? '–'));
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
    const { port } = await start(own, setup);
    const client = new PacedClient(port, PATIENCE);
    for (const { request, fresh } of questions)
      await client.run(request(KEYS.client), { ...WARM_UP, fresh });
    attacker.send({ name, target: { port, keys: KEYS, connections } });
    await Promise.race([once(attacker, 'message'), pause(OPEN_WITHIN)]);
    await pause(EFFECT_WITHIN);
    const timed = await Promise.all(
      questions.map(({ request, fresh }) => client.run(request(KEYS.client), { ...PACE, fresh })),
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
  const { median, p99, max } = timesOf(timed);
  const times = [median, p99, max].map((time) => time.toFixed(time < 100 ? 1 : 0));
  return `${outcomes(failed) || '0'} · ${times.join(' / ')}`;
}

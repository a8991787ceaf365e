/**
 * A business client beside attacks on what clients share, and beside floods (bench/neighbours/):
 *
 *     node --disable-warning=ExperimentalWarning bench/neighbours.ts \
 *       [--before FOLDER] [--nginx] [--only PART]
 *
 * `--before` measures another checkout in the same run, `--nginx` nginx where it shares the same
 * thing. `--only` takes part of a name, such as `upstream` or `large bodies`, and may be repeated.
 * Each attack has a process of its own, and meets a new gateway. The client sends `--rate` requests
 * a second for `--seconds`, whether or not the last one was answered. `--workers` needs REDIS_URL.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Children } from './children.ts';
import { cpuTime, residentMemory } from './cpu.ts';
import { ATTACKS } from './neighbours/all.ts';
import { BusinessClient } from './neighbours/business-client.ts';
import { type Gateway, Nginx, Storegate, startBackend } from './neighbours/gateways.ts';
import { type Cost, Report } from './neighbours/report.ts';
import type { Attack } from './neighbours/table.ts';

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    nginx: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [''] },
    workers: { type: 'string', default: '1' },
    connections: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '10' },
    rate: { type: 'string', default: '20' },
  },
});
/** So many at once that the client has idle connections. */
const WARM = { requests: 20, rate: 1_000 };
/** Milliseconds. */
const OPEN_WITHIN = 20_000;
const EFFECT_WITHIN = 1_500;

const rate = Number(values.rate);
const count = Number(values.seconds) * rate;
const attacks = ATTACKS.filter(({ name }) => values.only.some((part) => name.includes(part)));
if (attacks.length === 0) {
  throw new Error(`--only has no part of ${ATTACKS.map(({ name }) => `"${name}"`).join(', ')}`);
}
const children = new Children();
const report = new Report();
try {
  const gateways = await prepare();
  console.log(`${availableParallelism()} cores, load before the run ${loadavg()[0]!.toFixed(1)}\n`);
  report.begin();
  for (const attack of attacks) {
    for (const gateway of gateways) {
      if (attack.nginx || gateway.name !== 'nginx') await measure(attack, gateway);
    }
  }
  report.end(gateways.map(({ name }) => name));
} finally {
  await children.close();
}
process.exit();

async function prepare(): Promise<Gateway[]> {
  const backend = await startBackend(children);
  const common = { backend, workers: values.workers, folder: children.folder };
  const project = join(import.meta.dirname, '..');
  const gateways: Gateway[] = [new Storegate({ ...common, name: 'now', checkout: project })];
  if (values.before !== undefined) {
    const checkout = resolve(values.before);
    gateways.unshift(new Storegate({ ...common, name: 'before', checkout }));
  }
  if (values.nginx) gateways.push(new Nginx(backend));
  return gateways;
}

/** Reports a row for each question. */
async function measure(attack: Attack, gateway: Gateway): Promise<void> {
  const own = new Children();
  let attacker: ChildProcess | null = null;
  try {
    const { port, pid, keys, responses } = await gateway.start(own, attack.setup);
    const client = new BusinessClient(port, keys.business);
    for (const question of attack.questions) {
      await client.ask(question, WARM.requests, WARM.rate);
    }
    attacker = await begin(attack, { port, keys, connections: Number(values.connections) });
    const [costBefore, allBefore] = [costOf(pid), await responses()];
    const outcomes = await Promise.all(attack.questions.map((one) => client.ask(one, count, rate)));
    const cost = costSince(costBefore, costOf(pid));
    const all = await responses();
    if (attacker.exitCode !== null) throw new Error(`the attack "${attack.name}" ended early`);
    client.close();
    const answered = outcomes.flat().filter(({ result }) => /^\d+$/.test(result)).length;
    const others = allBefore === null || all === null ? null : all - allBefore - answered;
    for (const [i, { name: question }] of attack.questions.entries()) {
      const names = { attack: attack.name, question, gateway: gateway.name };
      report.add({ ...names, outcomes: outcomes[i]!, others, cost });
    }
  } finally {
    if (attacker?.kill('SIGKILL')) await once(attacker, 'exit');
    await own.close();
  }
}

async function begin({ name }: Attack, target: object): Promise<ChildProcess> {
  const file = join(import.meta.dirname, 'neighbours/attacker.ts');
  const attacker = fork(file, { execArgv: process.execArgv });
  attacker.send({ name, target });
  await Promise.race([once(attacker, 'message'), pause(OPEN_WITHIN)]);
  await pause(EFFECT_WITHIN);
  return attacker;
}

/** `null` if the gateway has ended. */
function costOf(pid: number): Cost | null {
  if (!existsSync(`/proc/${pid}`)) return null;
  return { cpu: cpuTime(pid) / 1e6, memory: residentMemory(pid) / 2 ** 20 };
}

function costSince(before: Cost | null, now: Cost | null): Cost | null {
  return before === null || now === null ? null : { ...now, cpu: now.cpu - before.cpu };
}

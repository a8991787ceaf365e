import { parseArgs } from 'node:util';
import { planOfSeed } from './plan.ts';
import { play, storyOf } from './play.ts';
import { shrink } from './shrink.ts';

const USAGE = `npm run test:simulation -- [--seed N] [--seeds COUNT] [--days N] [--trace] [--whole]

  --seed   the first seed (default 1)
  --seeds  how many seeds (default 1)
  --days   virtual days of a run (default 3)
  --trace  print everything that happened
  --whole  do not make failing runs smaller`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    days: { type: 'string', default: '3' },
    trace: { type: 'boolean', default: false },
    whole: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(USAGE);
  process.exit();
}

const first = Number(values.seed);
const failures = new Map<string, number[]>();
let events = 0;
let responses = 0;
const began = process.hrtime.bigint();
for (let seed = first; seed < first + Number(values.seeds); seed++) {
  const plan = planOfSeed(seed, Number(values.days));
  const outcome = await play(plan);
  events += outcome.events;
  responses += outcome.answers;
  if (values.trace) console.log(outcome.trace.join('\n'));
  if (outcome.failure === null) continue;
  const { invariant } = outcome.failure;
  const existing = failures.get(invariant) ?? [];
  failures.set(invariant, [...existing, seed]);
  const smaller =
    values.whole || existing.length > 2
      ? { plan, failure: outcome.failure }
      : await shrink(plan, outcome.failure);
  console.log(`${storyOf(smaller.plan, smaller.failure)}\n`);
}
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
const { user, system } = process.cpuUsage();
const cpu = (user + system) / 1e6;
console.log(`${values.seeds} runs of ${values.days} days in ${seconds.toFixed(1)} s`);
console.log(`${cpu.toFixed(1)} s of CPU`);
console.log(`${events} events, ${responses} answers`);
for (const [invariant, seeds] of failures)
  console.log(`${invariant}: ${seeds.length}, seeds ${seeds.join(' ')}`);
process.exitCode = failures.size === 0 ? 0 : 1;

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { answerCases, requestCases } from './arbitrary-messages.ts';
import { compareAnswers, compareRequests, type Difference, Tally } from './comparison.ts';
import { NodeServer } from './node-http.ts';

/**
 * `npm run fuzz -- --minutes 60 --seed 7` compares our reader with llhttp. Exits with 1 if there is
 * a difference.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: `${randomInt(2 ** 31)}` },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(minutes > 0) || !Number.isInteger(seed))
  throw new Error('--minutes wants a number above 0, --seed a whole number');

/** Cases per seed. Every fourth portion is one of responses. */
const PORTION = 1_000;
const start = performance.now();
const server = new NodeServer();
const requests = new Tally();
const responses = new Tally();
let differences = 0;

function report(): void {
  const counts = { requests, answers: responses, differences };
  console.log(
    `${((performance.now() - start) / 60_000).toFixed(1)} minutes: ${JSON.stringify(counts)}`,
  );
}

function print(difference: Difference | null, one: unknown): void {
  if (difference === null) return;
  differences++;
  console.log(JSON.stringify({ one, ...difference }));
}

console.log(`seed ${seed}`);
for (let portion = 0, reported = 0; performance.now() - start < minutes * 60_000; portion++) {
  const options = { seed: seed + portion, numRuns: PORTION };
  if (portion % 4 === 3)
    for (const one of fc.sample(answerCases, options))
      print(await compareAnswers(one, responses), one);
  else
    for (const one of fc.sample(requestCases, options))
      print(await compareRequests(one, server, requests), one);
  const passed = Math.floor((performance.now() - start) / 60_000);
  if (passed > reported) report();
  reported = passed;
}
report();
// Without waiting for what node:http still holds of millions of connections.
process.exit(differences > 0 ? 1 : 0);

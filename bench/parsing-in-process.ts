import { Ajv } from 'ajv';
import { total } from './cpu.ts';
import { spread } from './statistics.ts';
import { VISITS, works } from './work.ts';

/** About the CPU of a round of `npm run bench`, in bytes. */
const AMOUNT = 50_000_000;

const [name, rounds] = process.argv.slice(2);
const { body } = works.find((work) => work.name === name)!;
const bytes = Buffer.from(body!);
const check = new Ajv().compile({ type: 'object', properties: { visits: VISITS } });
const times = Array.from({ length: Number(rounds) + 1 }, timeOf);
// The first round warms up.
console.log(JSON.stringify(spread(times.slice(1))));

/** CPU microseconds of reading and checking the body once. */
function timeOf(): number {
  const times = Math.ceil(AMOUNT / bytes.length);
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++)
    if (!check(JSON.parse(bytes.toString()))) throw new Error('the body is not valid');
  return total(process.cpuUsage(before)) / times;
}

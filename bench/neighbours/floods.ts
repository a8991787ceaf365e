/** Floods of requests, on the shipped contract. */

import { flood, get, post } from './hostile-clients.ts';
import type { Attack, Question, Target } from './table.ts';

const QUESTION: Question = { name: 'GET', method: 'GET', path: '/pets/1' };
const fields = Array.from(
  { length: 95 },
  (_, i) => `x-${i}-${'abcdefgh'.slice(i % 8)}: ${i * 7919}\r\n`,
).join('');
const urls = Array.from({ length: 40_000 }, (_, i) => `https://a/${i}`);
const strings = JSON.stringify({ name: 'Rex', photoUrls: urls });
const names = JSON.stringify(
  Object.fromEntries(Array.from({ length: 80_000 }, (_, i) => [`name${i}`, 0])),
);
const pet = (body: string) => (key: string) => post('/pets', body.length, key) + body;

export const FLOODS: readonly Attack[] = [
  { ...row('none'), run: async () => {} },
  row('no key', () => get('/pets').repeat(2_500)),
  row('95 fields', () => get('/pets', undefined, fields).repeat(50)),
  row('404', (key) => get('/nowhere', key).repeat(1_000)),
  row('400', (key) => get('/pets/x', key).repeat(1_000)),
  row('a page', () => get('/docs/').repeat(2_500)),
  row('large bodies', pet(strings)),
  row('80,000 names', pet(names)),
];

function row(name: string, requests: (key: string) => string = () => ''): Attack {
  const run = async (target: Target) => {
    const text = requests(target.keys.strangers[0]!);
    await Promise.all(Array.from({ length: target.connections }, () => flood(target, text)));
  };
  return {
    name: `flood: ${name}`,
    setup: { contract: 'shipped' },
    nginx: false,
    questions: [QUESTION],
    run,
  };
}

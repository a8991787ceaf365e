import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

/**
 * Runs the tests, with any arguments of Jest, and prints the CPU and wall seconds of each suite and
 * folder (`npm run test:cost`). Linux only. CPU time includes ended child processes.
 */
interface Cost {
  readonly suite: string;
  readonly cpu: number;
  readonly wall: number;
}

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'storegate-cost-'));
const file = join(folder, 'cost');
const began = performance.now();
const { status } = spawnSync('npm', ['test', '--', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, STOREGATE_TEST_COST: file },
});
const wall = (performance.now() - began) / 1000;
const costs = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Cost)
  .map((cost) => ({ ...cost, suite: relative(root, cost.suite) }));
rmSync(folder, { recursive: true });

const sum = (some: readonly Cost[], of: 'cpu' | 'wall') =>
  some.reduce((total, one) => total + one[of], 0);
const row = (cpu: number, wall: number, name: string) =>
  `${cpu.toFixed(1).padStart(8)} ${wall.toFixed(1).padStart(8)}  ${name}`;
const folderOf = (suite: string) => dirname(suite).split('/').slice(0, 2).join('/');
const byFolder = [...Map.groupBy(costs, ({ suite }) => folderOf(suite))];

console.log('   CPU s   wall s  suite');
for (const { suite, cpu, wall } of costs.toSorted((a, b) => b.cpu - a.cpu))
  console.log(row(cpu, wall, suite));
console.log('\n   CPU s   wall s  folder (suites)');
for (const [name, suites] of byFolder.toSorted(([, a], [, b]) => sum(b, 'cpu') - sum(a, 'cpu')))
  console.log(row(sum(suites, 'cpu'), sum(suites, 'wall'), `${name} (${suites.length})`));
console.log(row(sum(costs, 'cpu'), wall, `all (${costs.length})`));
process.exitCode = status ?? 1;

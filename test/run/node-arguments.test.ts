import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '../..');
const YOUNG = '--max-semi-space-size=16';
/** Prints the arguments of the process that loads it. */
const SHOWN = 'data:text/javascript,console.log(process.execArgv.join())';

const SHIPPED = [
  'Dockerfile',
  'deploy',
  'docker-compose.yml',
  'docs/*.md',
  'package.json',
  'README.md',
  'scripts',
  'src',
];

/** Shipped lines, each with its file. */
function linesWith(pattern: string): string[] {
  const found = spawnSync('git', ['grep', '-E', '-e', pattern, '--', ...SHIPPED], { cwd: root });
  return found.stdout.toString().split('\n').filter(Boolean);
}

test('the size of young objects stands in the first line of main.js alone', () => {
  const [line] = readFileSync(join(root, 'src/main.js'), 'utf8').split('\n', 1);
  expect(linesWith('max-semi-space')).toEqual([`src/main.js:${line}`]);
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    NODE_OPTIONS: `--import=${SHOWN}`,
  };
  const printed = execFileSync(join(root, 'src/main.js'), ['--version'], { env }).toString();
  expect(printed.split('\n')[0]!.split(',')).toContain(YOUNG);
});

test('no shipped command gives main.js to node, which would not read its first line', () => {
  expect(linesWith('exec src/main.js serve')).toHaveLength(1);
  expect(linesWith('node .*main\\.js')).toEqual([]);
});

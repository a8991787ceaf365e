import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const project = resolve(import.meta.dirname, '../..');
const temporary = temporaryFolders();
const OLD =
  "Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.19.0'}})";
/** Prints its arguments after the script, and waits for SIGTERM if the first is `wait`. */
const NODE = `#!/bin/sh
while [ "\${1##*/}" != main.js ]; do shift; done
shift
trap 'echo stopped; exit 0' TERM
echo "ran $*"
[ "$1" = wait ] || exit 3
while :; do sleep 0.05; done
`;
/** Installs NODE. */
const NPM = `#!/bin/sh
for last; do :; done
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/\${last%@24}/bin"
cp "$0.node" "$2/node_modules/\${last%@24}/bin/node"
`;

describe('with a Node.js that is too old', () => {
  let folder: string;
  let bin: string;
  beforeEach(() => {
    [folder, bin] = [temporary(), temporary()];
    mkdirSync(join(folder, 'src'));
    mkdirSync(join(folder, 'node_modules'));
    for (const file of ['package.json', 'src/main.js', 'src/newer-node.js'])
      copyFileSync(join(project, file), join(folder, file));
    writeFileSync(join(bin, 'npm.node'), NODE, { mode: 0o755 });
    npm(NPM);
  });

  const npm = (script: string) => writeFileSync(join(bin, 'npm'), script, { mode: 0o755 });
  const command = (...args: string[]) =>
    [
      process.execPath,
      [`--import=data:text/javascript,${OLD}`, join(folder, 'src/main.js'), ...args],
      { env: { PATH: `${bin}${delimiter}${process.env.PATH}` }, encoding: 'utf8' },
    ] as const;

  function run(...args: string[]) {
    const { status, stdout, stderr } = spawnSync(...command(...args));
    return { status, stdout, stderr };
  }

  test('fetches a newer one once, says so in one line, and runs the command in it', () => {
    expect(run('keys', 'list')).toEqual({
      status: 3,
      stdout: 'ran keys list\n',
      stderr: `storegate needs Node.js 22.18 or newer, and this is ${process.version}. Fetching Node.js 24 with npm, once ...\n`,
    });
    npm('#!/bin/sh\nexit 1\n');
    expect(run('status')).toEqual({ status: 3, stdout: 'ran status\n', stderr: '' });
  });

  test('says what to do if npm cannot fetch one, and keeps nothing', () => {
    npm('#!/bin/sh\necho "npm error network" >&2\nexit 1\n');
    const { status, stdout, stderr } = run('status');
    const cache = join(folder, 'node_modules/.cache/node');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr.split('\n').slice(1)).toEqual([
      'npm error network',
      'Error: npm install failed.',
      `Install Node.js 22.18 or newer, or let npm download packages into ${cache}.`,
      '',
    ]);
    expect(readdirSync(cache)).toEqual([]);
  });

  test('passes signals on, and ends with the command', async () => {
    const [file, args, { env }] = command('wait');
    const child = spawn(file, args, { env });
    const exit = once(child, 'close');
    let output = '';
    child.stdout.on('data', (data) => (output += data));
    await until('the command runs', () => output.includes('ran wait'));
    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    expect(output).toBe('ran wait\nstopped\n');
  });

  test('first names missing dependencies', () => {
    const bare = temporary();
    mkdirSync(join(bare, 'src'));
    for (const file of ['package.json', 'src/main.js'])
      copyFileSync(join(project, file), join(bare, file));
    const { status, stderr } = spawnSync(process.execPath, [join(bare, 'src/main.js')], {
      encoding: 'utf8',
    });
    const expected =
      'The dependencies of storegate are missing. Run `npm ci --omit=dev` in its folder.\n';
    expect({ status, stderr }).toEqual({ status: 1, stderr: expected });
    expect(existsSync(join(bare, 'node_modules'))).toBe(false);
  });
});

import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder, packTarball, readJson, root, writeJson } from './pack/tarball.ts';

/**
 * Writes `storegate-openapi-VERSION.tgz` and its content, `openapi/`, to `dist` or to the folder
 * given as argument. Node.js does not run TypeScript inside `node_modules`, so the tarball has
 * JavaScript and declarations.
 */
const source = join(root, 'packages/openapi');
const target = packageFolder('openapi');

const tsc = join(root, 'node_modules/typescript/bin/tsc');
const options = ['-p', join(source, 'tsconfig.pack.json'), '--outDir', join(target, 'dist')];
execFileSync(process.execPath, [tsc, ...options], { stdio: 'inherit' });
cpSync(join(source, 'README.md'), join(target, 'README.md'));
cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
const { private: _, exports, ...manifest } = readJson(join(source, 'package.json'));
const compiled = Object.entries(exports as Record<string, string>).map(([name, file]) => {
  const path = file.replace('./src/', './dist/').replace(/\.ts$/, '');
  return [name, { types: `${path}.d.ts`, default: `${path}.js` }];
});
writeJson(join(target, 'package.json'), {
  ...manifest,
  exports: Object.fromEntries(compiled),
  files: ['dist'],
});
process.stdout.write(`${packTarball(target)}\n`);

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/**
 * Writes `storegate-openapi-VERSION.tgz` and its content, `openapi/`, to `dist` or to the folder
 * given as argument. Node.js does not run TypeScript inside `node_modules`, so the tarball has
 * JavaScript and declarations.
 */
const root = resolve(import.meta.dirname, '..');
const source = join(root, 'packages/openapi');
const folder = resolve(process.argv[2] ?? join(root, 'dist'));
const target = join(folder, 'openapi');

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const options = ['-p', join(source, 'tsconfig.pack.json'), '--outDir', join(target, 'dist')];
execFileSync(process.execPath, [tsc, ...options], { stdio: 'inherit' });
cpSync(join(source, 'README.md'), join(target, 'README.md'));
cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
const {
  private: _,
  exports,
  ...manifest
} = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
const compiled = Object.entries<string>(exports).map(([name, file]) => [name, compiledAt(file)]);
const packed = { ...manifest, exports: Object.fromEntries(compiled), files: ['dist'] };
writeFileSync(join(target, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);

execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: target });
process.stdout.write(
  `${relative('', join(folder, `storegate-openapi-${manifest.version}.tgz`))}\n`,
);

function compiledAt(file: string): { readonly types: string; readonly default: string } {
  const path = file.replace('./src/', './dist/').replace(/\.ts$/, '');
  return { types: `${path}.d.ts`, default: `${path}.js` };
}

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { bundle } from './pack/bundle.ts';
import { copyDocs } from './pack/docs.ts';
import { billOfMaterials, licenseTexts, packagesOf } from './pack/packages.ts';

/**
 * Writes `storegate-VERSION.tgz` and its content, `package/`, to `dist` or to the folder given as
 * argument: the code and all its dependencies, bundled, and the files that the code reads. An
 * installation downloads nothing else.
 */
const root = resolve(import.meta.dirname, '..');
const folder = resolve(process.argv[2] ?? join(root, 'dist'));
const target = join(folder, 'package');

/** Files of packages that browsers load. npm includes them as bundled dependencies. */
const BROWSER_PACKAGES = {
  preact: ['dist/preact.mjs', 'hooks/dist/hooks.mjs', 'LICENSE'],
  marked: ['lib/marked.esm.js', 'LICENSE'],
  uplot: ['dist/uPlot.esm.js', 'LICENSE'],
};

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const inputs = await bundle(root, join(target, 'dist'));
copyData();
const manifest = readJson(join(root, 'package.json'));
const bundled = Object.keys(BROWSER_PACKAGES).map(copyBrowserPackage);
writeJson('package.json', {
  ...pick(manifest, ['name', 'version', 'description', 'license', 'type', 'engines']),
  bin: { storegate: 'dist/main.js' },
  dependencies: Object.fromEntries(bundled.map(({ name, version }) => [name, version])),
  bundleDependencies: bundled.map(({ name }) => name),
});
const packages = packagesOf(root, [
  ...inputs,
  ...bundled.map(({ name }) => `node_modules/${name}/`),
]);
writeJson('sbom.cdx.json', billOfMaterials(manifest, packages));
writeFileSync(join(target, 'THIRD-PARTY-LICENSES.txt'), licenseTexts(packages));
copyDocs(root, target);

execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: target });
const file = join(folder, `storegate-${manifest.version}.tgz`);
process.stdout.write(
  `${relative('', file)}: ${Math.round(statSync(file).size / 1024)} KiB, with ${packages.length} packages inside\n`,
);

/**
 * What the code reads at run time: everything in the source folders but server code, and the
 * shipped settings.
 */
function copyData(): void {
  const isData = (path: string) =>
    !/\.(?:ts|js)$/.test(path) || /\/(?:browser|admin-api)\//.test(relative(root, path));
  for (const name of [
    'src',
    'packages/admin-api/src',
    'packages/console/src',
    'packages/pages/src',
    'packages/reference/src',
  ])
    cpSync(join(root, name), join(target, name), {
      recursive: true,
      filter: (path) => statSync(path).isDirectory() || isData(path),
    });
  for (const name of ['config', 'deploy/systemd', 'plans.yaml', 'LICENSE'])
    cpSync(join(root, name), join(target, name), { recursive: true });
}

function copyBrowserPackage(name: string): { readonly name: string; readonly version: string } {
  const from = join(root, 'node_modules', name);
  const place = `node_modules/${name}`;
  const files = BROWSER_PACKAGES[name as keyof typeof BROWSER_PACKAGES];
  for (const file of files) cpSync(join(from, file), join(target, place, file));
  const fields = pick(readJson(join(from, 'package.json')), [
    'name',
    'version',
    'license',
    'main',
    'exports',
  ]);
  writeJson(`${place}/package.json`, fields);
  return { name, version: fields.version as string };
}

function readJson(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeJson(name: string, value: unknown): void {
  writeFileSync(join(target, name), `${JSON.stringify(value, null, 2)}\n`);
}

function pick(from: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
}

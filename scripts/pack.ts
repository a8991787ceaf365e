import { cpSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { bundle } from './pack/bundle.ts';
import { copyDocs } from './pack/docs.ts';
import { billOfMaterials, licenseTexts, packagesOf } from './pack/packages.ts';
import { packageFolder, packTarball, readJson, root, writeJson } from './pack/tarball.ts';

/**
 * Writes `storegate-VERSION.tgz` and its content, `package/`, to `dist` or to the folder given as
 * argument: the code and all its dependencies, bundled, and the files that the code reads. An
 * installation downloads nothing else.
 */
const target = packageFolder('package');

/** Files of packages that browsers load. npm includes them as bundled dependencies. */
const BROWSER_PACKAGES = {
  preact: ['dist/preact.mjs', 'hooks/dist/hooks.mjs', 'LICENSE'],
  marked: ['lib/marked.esm.js', 'LICENSE'],
  uplot: ['dist/uPlot.esm.js', 'LICENSE'],
};

const inputs = await bundle(root, join(target, 'dist'));
copyData();
const manifest = readJson(join(root, 'package.json'));
const bundled = Object.entries(BROWSER_PACKAGES).map(copyBrowserPackage);
const names = Object.keys(BROWSER_PACKAGES);
writeJson(join(target, 'package.json'), {
  ...pick(manifest, ['name', 'version', 'description', 'license', 'type', 'engines']),
  bin: { storegate: 'dist/main.js' },
  dependencies: Object.fromEntries(bundled),
  bundleDependencies: names,
});
const packages = packagesOf(root, [...inputs, ...names.map((name) => `node_modules/${name}/`)]);
writeJson(join(target, 'sbom.cdx.json'), billOfMaterials(manifest, packages));
writeFileSync(join(target, 'THIRD-PARTY-LICENSES.txt'), licenseTexts(packages));
copyDocs(root, target);

const file = packTarball(target);
const size = Math.round(statSync(file).size / 1024);
process.stdout.write(`${file}: ${size} KiB, with ${packages.length} packages inside\n`);

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
    'config',
    'deploy/systemd',
    'plans.yaml',
    'LICENSE',
  ])
    cpSync(join(root, name), join(target, name), {
      recursive: true,
      filter: (path) => statSync(path).isDirectory() || isData(path),
    });
}

/** Returns its name and version. */
function copyBrowserPackage([name, files]: [string, readonly string[]]): [string, unknown] {
  const [from, to] = [root, target].map((folder) => join(folder, 'node_modules', name));
  for (const file of files) cpSync(join(from!, file), join(to!, file));
  const manifest = readJson(join(from!, 'package.json'));
  writeJson(
    join(to!, 'package.json'),
    pick(manifest, ['name', 'version', 'license', 'main', 'exports']),
  );
  return [name, manifest.version];
}

function pick(from: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Package {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  readonly text: string;
}

/** The packages that own `files`, by name. Throws if a package has no license. */
export function packagesOf(root: string, files: readonly string[]): readonly Package[] {
  const folders = files.flatMap(
    (file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? [],
  );
  return [...new Set(folders)]
    .map((folder) => packageIn(join(root, folder)))
    .sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

function packageIn(folder: string): Package {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string') throw new Error(`${name} ${version} names no license.`);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text =
    file === undefined ? `License: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
  return { name, version, license, text };
}

export function licenseTexts(packages: readonly Package[]): string {
  return packages.map(({ name, version, text }) => `## ${name} ${version}\n\n${text}\n`).join('\n');
}

/** CycloneDX 1.6. */
export function billOfMaterials(
  { name, version }: Readonly<Record<string, unknown>>,
  packages: readonly Package[],
): object {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name, version } },
    components: packages.map((one) => {
      const purl = `pkg:npm/${one.name.replace('@', '%40')}@${one.version}`;
      const { name, version } = one;
      return {
        type: 'library',
        'bom-ref': purl,
        name,
        version,
        purl,
        licenses: [{ expression: one.license }],
      };
    }),
  };
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExpectedError } from '../../src/common/expected-error.ts';

/** The release cannot be made. The message says why. */
export class ReleaseError extends ExpectedError {
  override name = 'ReleaseError';
}

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

/**
 * `wanted`: minor, patch or a version. The first release may have the version that package.json has
 * already.
 */
export function nextVersion(current: string, expected: string): string {
  const [major, minor, patch] = VERSION.exec(current)!.slice(1).map(Number);
  if (expected === 'minor') return `${major}.${minor! + 1}.0`;
  if (expected === 'patch') return `${major}.${minor}.${patch! + 1}`;
  if (!VERSION.test(expected))
    throw new ReleaseError(`${expected} is not minor, patch or a version such as 1.2.3.`);
  if (expected.localeCompare(current, 'en', { numeric: true }) < 0)
    throw new ReleaseError(`${expected} is lower than the current version ${current}.`);
  return expected;
}

const HEADING = /^## (?:\[Unreleased\]|\[[\d.]+\] - Unreleased)$/m;

/** The new text of each file that names the version, by its path in `root`. */
export function filesWith(
  version: string,
  date: string,
  root: string,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const change = (file: string, edit: (text: string) => string) =>
    void texts.set(file, edit(readFileSync(join(root, file), 'utf8')));
  const replace = (file: string, part: RegExp, other: string, what = 'version') =>
    change(file, (text) => {
      if (!part.test(text)) throw new ReleaseError(`${file} has no ${what}.`);
      return text.replace(part, other);
    });

  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
  for (const folder of ['.', ...packages])
    replace(join(folder, 'package.json'), /(?<=^ {2}"version": ").*(?=")/m, version);
  change('package-lock.json', (text) => {
    const lock = JSON.parse(text);
    for (const own of [lock, lock.packages[''], ...packages.map((name) => lock.packages[name])])
      own.version = version;
    return `${JSON.stringify(lock, null, 2)}\n`;
  });
  replace('Dockerfile', /(?<=image\.version=").*(?=")/, version);
  replace(
    'deploy/kubernetes/overlays/example/kustomization.yaml',
    /(?<=newTag: )\d[\d.]*/,
    version,
  );
  replace('CHANGELOG.md', HEADING, `## [${version}] - ${date}`, 'section `## [Unreleased]`');
  return texts;
}

/** The section of a version in the changelog, without its heading. */
export function sectionOf(changelog: string, version: string): string {
  const [, section = ''] = changelog.split(
    new RegExp(`^## \\[${RegExp.escape(version)}\\].*\\n`, 'm'),
  );
  return section.split(/^## /m, 1)[0]!.trim();
}

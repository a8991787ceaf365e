import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { filesWith, nextVersion } from '../../scripts/release/version.ts';
import { type ReleaseOptions, release } from '../../scripts/release.ts';
import { temporaryFolders } from '../support/temporary.ts';

const CHANGELOG = `# Changelog

## [0.2.0] - Unreleased

### Added

- **Plans**: a second one.

## [0.1.0] - 2026-01-02

The first release.
`;

const lasting = temporaryFolders({ keep: true });
const temporary = temporaryFolders();
const project = resolve(import.meta.dirname, '../..');
/** Those that a release changes, and two others. */
const FILES = [
  'package.json',
  'package-lock.json',
  'packages/*/package.json',
  'Dockerfile',
  'deploy/kubernetes/overlays/example',
  '.gitignore',
  'LICENSE',
];
/** A repository of the files of this commit. */
let original: string;
let root: string;
let printed: string[];

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Makes a repository of the files in `root`. */
function initialize(): void {
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'a test');
  git('config', 'user.email', 'test@example.com');
  for (const name of ['commit.gpgSign', 'tag.gpgSign']) git('config', name, 'false');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'everything');
}

beforeAll(() => {
  original = lasting();
  const archive = execFileSync('git', ['archive', 'HEAD', '--', ...FILES], { cwd: project });
  execFileSync('tar', ['-x', '-C', original], { input: archive });
  const changelog = join(original, 'CHANGELOG.md');
  writeFileSync(changelog, CHANGELOG);
  const files = filesWith('0.1.0', '2026-02-03', original);
  for (const [file, text] of files) writeFileSync(join(original, file), text);
  writeFileSync(changelog, CHANGELOG);
  root = original;
  initialize();
});

beforeEach(() => {
  printed = [];
  root = join(temporary(), 'copy');
  cpSync(original, root, { recursive: true });
});

const options = (changes: Partial<ReleaseOptions> = {}): ReleaseOptions => ({
  root,
  date: '2026-02-03',
  dryRun: false,
  print: (line) => void printed.push(line),
  verify: async () => {},
  pack: async () => {
    mkdirSync(join(root, 'dist'), { recursive: true });
    writeFileSync(
      join(root, `dist/storegate-${JSON.parse(read('package.json')).version}.tgz`),
      'content',
    );
  },
  ...changes,
});

/** Everything that a release changes. */
const state = () => [
  git('status', '--porcelain=v2', '--branch'),
  git('diff', 'HEAD'),
  git('tag'),
  existsSync(join(root, 'dist/RELEASE-NOTES.md')),
];

test('commits and tags the new version in every file that names it', async () => {
  let verified = '';
  const verify = async () => {
    verified = JSON.parse(read('package.json')).version;
  };
  await release('0.2.0', options({ verify }));
  expect(verified).toBe('0.2.0');
  expect(git('status', '--porcelain')).toBe('');
  expect(git('show', '--format=%s', '--no-patch')).toBe('release: publish 0.2.0');
  expect(git('rev-parse', 'v0.2.0^{commit}')).toBe(git('rev-parse', 'HEAD'));
  expect(printed.at(-1)).toContain('git push origin main v0.2.0');

  const lines = git('show', '--format=', '--unified=0').split('\n');
  const removed = lines.filter((line) => /^-(?!-)/.test(line)).map((line) => line.slice(1));
  const added = lines.filter((line) => /^\+(?!\+)/.test(line)).map((line) => line.slice(1));
  expect(added).toContain('## [0.2.0] - 2026-02-03');
  expect(added).toEqual(
    removed.map((line) => line.replace('0.1.0', '0.2.0').replace('Unreleased', '2026-02-03')),
  );
  const files = git('show', '--format=', '--name-only').split('\n');
  const manifests = git('ls-files', 'package.json', 'packages/*/package.json').split('\n');
  const others = ['CHANGELOG.md', 'Dockerfile', 'package-lock.json'];
  expect(files).toEqual(expect.arrayContaining([...manifests, ...others]));
  const { packages, version } = JSON.parse(read('package-lock.json'));
  const own = [
    '',
    ...manifests.flatMap((file) => (file.includes('/') ? [file.replace('/package.json', '')] : [])),
  ];
  expect([version, ...own.map((name) => packages[name].version)]).toEqual(
    new Array(own.length + 1).fill('0.2.0'),
  );
});

test('releases the version that the files have already', async () => {
  commitChangelog(/0\.2\.0[\s\S]*/, '0.1.0] - Unreleased\n\nThe first release.\n');
  await release('0.1.0', options());
  expect(git('show', '--format=', '--name-only', 'v0.1.0^{commit}')).toBe('CHANGELOG.md');
  expect(read('dist/RELEASE-NOTES.md')).toMatch(/^# storegate 0\.1\.0\n\nThe first release\.\n/);
});

test('packs the new version, and writes notes with the digest of the package', async () => {
  let packed = '';
  const content = randomBytes(64);
  const pack = async () => {
    packed = `${JSON.parse(read('package.json')).version}\n${read('CHANGELOG.md')}`;
    mkdirSync(join(root, 'dist'));
    writeFileSync(join(root, 'dist/storegate-0.2.0.tgz'), content);
  };
  await release('0.2.0', options({ pack }));
  expect(packed).toMatch(/^0\.2\.0\n[\s\S]*## \[0\.2\.0\] - 2026-02-03/);
  const digest = createHash('sha256').update(content).digest('hex');
  expect(read('dist/RELEASE-NOTES.md')).toBe(`# storegate 0.2.0

### Added

- **Plans**: a second one.

### Package

\`storegate-0.2.0.tgz\`: 64 bytes, SHA-256 \`${digest}\`
`);
});

test('a dry run prints the steps and changes nothing', async () => {
  const before = state();
  await release('minor', options({ dryRun: true, verify: mustNotRun, pack: mustNotRun }));
  expect(state()).toEqual(before);
  expect(printed).toContain('would set 0.2.0 in CHANGELOG.md');
  expect(printed.at(-1)).toBe('would commit the files and tag the commit v0.2.0');
});

describe('refuses, before it changes anything,', () => {
  const noRelease = () => commitChangelog(/Unreleased/, '2026-01-03');
  const noText = () => commitChangelog(/### Added[^#]*/, '');

  test.each([
    [
      'a changed file',
      () => writeFileSync(join(root, 'Dockerfile'), ''),
      '0.2.0',
      /^The tree has changes/,
    ],
    [
      'an untracked file',
      () => writeFileSync(join(root, 'new'), ''),
      '0.2.0',
      /^The tree has changes/,
    ],
    [
      'another branch',
      () => git('switch', '--quiet', '--create', 'other'),
      '0.2.0',
      /^The branch is other/,
    ],
    ['an existing tag', () => git('tag', 'v0.2.0'), '0.2.0', /^v0\.2\.0 exists/],
    ['a lower version', () => {}, '0.0.9', /^0\.0\.9 is lower than/],
    ['a version with a suffix', () => {}, '1.2.3-rc.1', /^1\.2\.3-rc\.1 is not minor/],
    ['a changelog without this release', noRelease, '0.3.0', /^CHANGELOG\.md has no section/],
    ['an empty section of the changelog', noText, '0.2.0', /^CHANGELOG\.md has no text/],
  ])('%s', async (_what, prepare, expected, message) => {
    prepare();
    const before = state();
    await expect(
      release(expected, options({ verify: mustNotRun, pack: mustNotRun })),
    ).rejects.toThrow(message);
    expect(state()).toEqual(before);
  });
});

describe('leaves everything as it was if', () => {
  const hook = () =>
    writeFileSync(join(root, '.git/hooks/pre-commit'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });

  test.each([
    ['the tests fail', () => {}, { verify: fail }, /^it failed/],
    ['the package cannot be made', () => {}, { pack: fail }, /^it failed/],
    ['the package is missing', () => {}, { pack: async () => {} }, /ENOENT/],
    ['git refuses the commit', hook, {}, /^git commit failed/],
    // Git cannot backend v0.2.0 beside v0.2.0/x.
    ['git refuses the tag', () => git('tag', 'v0.2.0/x'), {}, /^git tag failed/],
  ])('%s', async (_what, prepare, changes, message) => {
    prepare();
    const before = state();
    await expect(release('0.2.0', options(changes))).rejects.toThrow(message);
    expect(state()).toEqual(before);
    expect(existsSync(join(root, 'dist/storegate-0.2.0.tgz'))).toBe(false);
  });

  test('the tests fail, except edits that came meanwhile', async () => {
    const verify = async () => {
      writeFileSync(join(root, 'LICENSE'), 'edited');
      await fail();
    };
    await expect(release('0.2.0', options({ verify }))).rejects.toThrow('it failed');
    expect(git('status', '--porcelain')).toBe('M LICENSE');
  });
});

test.each([
  ['1.2.3', 'minor', '1.3.0'],
  ['1.2.3', 'patch', '1.2.4'],
  ['1.2.3', '1.2.3', '1.2.3'],
  ['1.2.3', '1.10.0', '1.10.0'],
  ['1.9.3', '2.0.0', '2.0.0'],
])('after %s, %s is %s', (current, expected, next) => {
  expect(nextVersion(current, expected)).toBe(next);
});

test.each([[[]], [['minor', 'patch']], [['--force']]])('the arguments %j are refused', (args) => {
  const script = join(project, 'scripts/release.ts');
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^(?:Usage: npm run release|Unknown option '--force')/);
});

async function fail(): Promise<void> {
  throw new Error('it failed');
}

async function mustNotRun(): Promise<void> {
  throw new Error('this must not run');
}

function commitChangelog(part: RegExp, other: string): void {
  writeFileSync(join(root, 'CHANGELOG.md'), CHANGELOG.replace(part, other));
  git('commit', '--quiet', '--all', '--message', 'another changelog');
}

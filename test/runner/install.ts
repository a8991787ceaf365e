import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { missingPrograms, packagesOf } from './programs.ts';

const LISTS = '/var/lib/apt/lists';
/** Debian packages ask this script whether their services may start. */
const POLICY = '/usr/sbin/policy-rc.d';
const LOCKED = /Could not get lock|Unable to (?:acquire|lock)/;
const TEN_MINUTES = 600;

/**
 * Installs the missing programs of tests, if allowed: as root on Debian or Ubuntu. Returns a line
 * about the installed packages, or null.
 *
 * @throws with the output of apt-get if it fails.
 */
export async function installMissing(): Promise<string | null> {
  const missing = missingPrograms();
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return null;
  const packages = packagesOf(missing);
  const began = Date.now();
  process.stderr.write(`Installing what the tests start: apt-get install ${packages.join(' ')}\n`);
  await withoutServices(async () => {
    const install = () => aptGet('install', '-y', '--no-install-recommends', ...packages);
    if (!hasLists()) await mustSucceed(() => aptGet('update'));
    // Outdated lists name packages that the mirror has deleted.
    if ((await install()).status !== 0) {
      await mustSucceed(() => aptGet('update'));
      await mustSucceed(install);
    }
  });
  return `Installed ${packages.join(', ')} in ${Math.round((Date.now() - began) / 1000)} s.`;
}

const hasLists = () =>
  existsSync(LISTS) && readdirSync(LISTS).some((name) => name.includes('_Packages'));

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

async function aptGet(...args: readonly string[]): Promise<Ended> {
  const deadline = Date.now() + TEN_MINUTES * 1000;
  for (;;) {
    const { status, stdout, stderr, error } = spawnSync(
      'apt-get',
      ['-q', '-o', `DPkg::Lock::Timeout=${TEN_MINUTES}`, ...args],
      { encoding: 'utf8', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' } },
    );
    if (error) throw error;
    if (status === 0 || !LOCKED.test(stderr) || Date.now() > deadline)
      return { status, output: stdout + stderr };
    await sleep(2_000);
  }
}

async function mustSucceed(call: () => Promise<Ended>): Promise<void> {
  const { status, output } = await call();
  if (status !== 0) throw new Error(`apt-get failed:\n${output.split('\n').slice(-20).join('\n')}`);
}

async function withoutServices(install: () => Promise<void>): Promise<void> {
  if (existsSync(POLICY)) return install();
  writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await install();
  } finally {
    rmSync(POLICY);
  }
}

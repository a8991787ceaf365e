import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  /** Average of the last minute before the run. */
  readonly loadBefore: number;
  /** ISO 8601, day only. */
  readonly date: string;
  readonly versions: Readonly<Record<string, string>>;
}

const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  nginx: ['nginx', '-v'],
  haproxy: ['haproxy', '-v'],
  caddy: ['caddy', 'version'],
  redis: ['redis-server', '--version'],
  wrk: ['wrk', '-v'],
};

export function describeMachine(node: string, targets: readonly string[]): Machine {
  const names = ['nginx', 'wrk', ...targets.filter((name) => name in PROGRAMS)];
  if (targets.some((name) => /redis|limit|usual/.test(name))) names.push('redis');
  const programs = Object.fromEntries(
    [...new Set(names)].map((name) => [name, versionOf(PROGRAMS[name]!)]),
  );
  return {
    processor: cpus()[0]!.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${systemName()}, Linux ${release()}`,
    loadBefore: Number(loadavg()[0]!.toFixed(2)),
    date: new Date().toISOString().slice(0, 10),
    versions: { node: versionOf([node, '--version']), ...programs, ...packageVersions() },
  };
}

function packageVersions(): Record<string, string> {
  const text = readFileSync(new URL('package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { dependencies: Record<string, string> }).dependencies;
}

function versionOf([file, ...args]: readonly string[]): string {
  const shell = ['-c', '"$0" "$@" 2>&1 || true', file!, ...args];
  return /\d+(\.\d+)+/.exec(execFileSync('/bin/sh', shell, { encoding: 'utf8' }))?.[0] ?? 'unknown';
}

function systemName(): string {
  return /^PRETTY_NAME="?(.+?)"?$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux';
}

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import manifest from './package.json' with { type: 'json' };

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

const PROGRAMS = {
  nginx: 'nginx -v',
  haproxy: 'haproxy -v',
  caddy: 'caddy version',
  redis: 'redis-server --version',
  wrk: 'wrk -v',
};

export function describeMachine(): Machine {
  const programs = Object.entries(PROGRAMS).flatMap(([name, command]) => {
    const output = execFileSync('/bin/sh', ['-c', `${command} 2>&1 || true`], { encoding: 'utf8' });
    const version = /\d+(\.\d+)+/.exec(output)?.[0];
    return version === undefined ? [] : [[name, version]];
  });
  return {
    processor: cpus()[0]!.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${systemName()}, Linux ${release()}`,
    loadBefore: Number(loadavg()[0]!.toFixed(2)),
    date: new Date().toISOString().slice(0, 10),
    versions: {
      node: process.versions.node,
      ...Object.fromEntries(programs),
      ...manifest.dependencies,
    },
  };
}

function systemName(): string {
  return /^PRETTY_NAME="?(.+?)"?$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux';
}

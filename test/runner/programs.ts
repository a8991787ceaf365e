import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FOLDERS = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin'];

interface Known {
  readonly packages: readonly string[];
  readonly aliases?: readonly string[];
  /** Only `npm run test:deep` needs it. */
  readonly isDeep?: true;
}

const PROGRAMS = {
  'redis-server': { packages: ['redis-server'] },
  nginx: { packages: ['nginx'] },
  haproxy: { packages: ['haproxy'] },
  caddy: { packages: ['caddy'], isDeep: true },
  gcc: { packages: ['gcc', 'libc6-dev'], isDeep: true },
  // Has no windows, and takes a third of the CPU of `chromium --headless`.
  'chromium-headless-shell': {
    packages: ['chromium-headless-shell', 'fonts-dejavu-core'],
    aliases: ['chromium', 'chromium-browser', 'google-chrome'],
  },
  prometheus: { packages: ['prometheus'] },
  promtool: { packages: ['prometheus'] },
  python3: { packages: ['python3'] },
  'systemd-analyze': { packages: ['systemd'] },
  'systemd-notify': { packages: ['systemd'] },
  openssl: { packages: ['openssl'] },
  ps: { packages: ['procps'] },
  jq: { packages: ['jq'] },
  pgrep: { packages: ['procps'] },
} as const satisfies Readonly<Record<string, Known>>;

export type Program = keyof typeof PROGRAMS;

function find(name: Program): string | null {
  const { aliases = [] }: Known = PROGRAMS[name];
  const paths = [name, ...aliases].flatMap((name) => FOLDERS.map((folder) => join(folder, name)));
  return paths.find((path) => existsSync(path)) ?? null;
}

export function missingPrograms(): Program[] {
  const isDeep = process.env.STOREGATE_TEST_DEPTH === 'deep';
  return (Object.keys(PROGRAMS) as Program[]).filter((name) => {
    const existing: Known = PROGRAMS[name];
    return (isDeep || !existing.isDeep) && find(name) === null;
  });
}

export function packagesOf(programs: readonly Program[]): string[] {
  return [...new Set(programs.flatMap((name): readonly string[] => PROGRAMS[name].packages))];
}

const missingOfSuite = new Set<Program>();

/**
 * @throws if it is not installed. The runner then skips the suite, and the run ends with a line
 * about it.
 */
export function program(name: Program): string {
  const path = find(name);
  if (path !== null) return path;
  missingOfSuite.add(name);
  throw new Error(`${name} is not installed: ${installCommand([name])}`);
}

const skippedFile = () => join(tmpdir(), 'skipped-suites');

/** Records that this suite could not run; returns false if it could. */
export function noteSkipped(): boolean {
  if (missingOfSuite.size === 0) return false;
  appendFileSync(skippedFile(), [...missingOfSuite].map((name) => `${name}\n`).join(''));
  missingOfSuite.clear();
  return true;
}

export function skippedSuites(): ReadonlyMap<Program, number> {
  const counts = new Map<Program, number>();
  if (!existsSync(skippedFile())) return counts;
  for (const name of readFileSync(skippedFile(), 'utf8').trim().split('\n') as Program[])
    counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

export function installCommand(programs: readonly Program[]): string {
  return `apt-get install --no-install-recommends ${packagesOf(programs).join(' ')}`;
}

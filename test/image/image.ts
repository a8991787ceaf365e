import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Builds the image of the Dockerfile without an image registry. Its base image is Debian's
 * packages, the Node.js of this process and npm; `npm ci` reads the cache of this machine. Needs
 * root, and the programs buildah and debootstrap.
 */
const project = resolve(import.meta.dirname, '../..');
const work = join(project, 'node_modules/.cache/storegate-image');
const places = [
  '--storage-driver',
  'vfs',
  '--root',
  join(work, 'storage'),
  '--runroot',
  join(work, 'run'),
];

export interface Image {
  /** The root folder of a container. */
  readonly tree: string;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly entrypoint: readonly string[];
  readonly user: number;
  readonly folder: string;
  readonly healthcheck: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  remove(): void;
}

export function buildImage(): Image {
  const base = baseOf(readFileSync(join(project, 'Dockerfile'), 'utf8'));
  makeBase(base);
  // npm reads only its cache, which a development installation has filled except for packages of
  // other platforms.
  const npm = ['-v', `${run('npm', 'config', 'get', 'cache')}:/cache`];
  buildah(
    'build',
    '--isolation=chroot',
    '--format=docker',
    '--pull-never',
    ...npm,
    '-t',
    'storegate',
    project,
  );
  const container = buildah('from', '--pull-never', 'localhost/storegate');
  const { config } = JSON.parse(buildah('inspect', '--type=image', 'localhost/storegate')).Docker;
  return {
    tree: buildah('mount', container),
    env: Object.fromEntries((config.Env as string[]).map((line) => line.split(/=(.*)/s, 2))),
    command: config.Cmd,
    entrypoint: config.Entrypoint,
    user: Number(config.User.split(':')[0]),
    folder: config.WorkingDir,
    healthcheck: config.Healthcheck.Test.slice(1),
    labels: config.Labels,
    remove: () => void buildah('rm', container),
  };
}

function baseOf(dockerfile: string): string {
  const names = new Set([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name!));
  const [name, ...others] = names;
  if (others.length > 0)
    throw new Error(`The Dockerfile has several base images: ${[...names].join(', ')}`);
  return `docker.io/library/${name}`;
}

/** Kept for the next run. */
function makeBase(name: string): void {
  if (spawnSync('buildah', [...places, 'inspect', '--type=image', name]).status === 0) return;
  const root = join(work, 'base');
  rmSync(root, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  run('debootstrap', '--variant=minbase', '--include=ca-certificates', 'bookworm', root);
  for (const folder of [
    'usr/share/doc',
    'usr/share/man',
    'usr/share/locale',
    'var/lib/apt/lists',
    'var/cache/apt',
  ])
    rmSync(join(root, folder), { recursive: true });
  const modules = join(root, 'usr/local/lib/node_modules');
  mkdirSync(modules, { recursive: true });
  cpSync(process.execPath, join(root, 'usr/local/bin/node'));
  cpSync(dirname(dirname(run('readlink', '-f', run('which', 'npm')))), join(modules, 'npm'), {
    recursive: true,
  });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  const container = buildah('from', 'scratch');
  buildah('add', '-q', container, root, '/');
  buildah(
    'config',
    '--env',
    'npm_config_cache=/cache',
    '--env',
    'npm_config_offline=true',
    container,
  );
  buildah('commit', '-q', '--format=docker', '--rm', container, name);
  rmSync(root, { recursive: true });
}

const buildah = (...args: string[]) => run('buildah', ...places, ...args);

function run(command: string, ...args: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error)
    throw new Error(
      `${command} cannot run (apt-get install buildah debootstrap): ${error.message}`,
    );
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr.slice(-2_000)}`);
  return stdout.trim();
}

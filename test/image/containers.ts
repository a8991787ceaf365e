import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { until } from '../support/until.ts';

export interface ContainerOptions {
  readonly name: string;
  /** The root folder; null: that of this machine. It is read-only. */
  readonly tree: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly user: number;
  readonly folder: string;
  /** In 172.31.77.0/24; by default the next free one. */
  readonly address?: string;
  /** Files and folders of this machine, by their place in the container. */
  readonly mounts: Readonly<Record<string, string>>;
}

/** This machine, for containers. */
const GATEWAY = '172.31.77.1';

/**
 * Containers on a bridge, each with namespaces of its own for processes, mounts and the network.
 * They find each other by name. Unlike Docker's, they have this machine's control groups and
 * capabilities of root if `user` is 0.
 */
export class Network {
  readonly #bridge = `sg${process.pid % 100_000}`;
  readonly #hosts: string;
  readonly #containers: Container[] = [];
  #count = 1;

  /** @param folder for files of the network */
  constructor(folder: string) {
    this.#hosts = join(folder, 'hosts');
    writeFileSync(this.#hosts, '127.0.0.1 localhost\n');
    ip('link', 'add', this.#bridge, 'type', 'bridge');
    ip('address', 'add', `${GATEWAY}/24`, 'dev', this.#bridge);
    ip('link', 'set', this.#bridge, 'up');
  }

  async start(options: ContainerOptions): Promise<Container> {
    const number = ++this.#count;
    const address = options.address ?? `172.31.77.${number}`;
    const namespace = `${this.#bridge}-${number}`;
    ip('netns', 'add', namespace);
    ip(
      'link',
      'add',
      `${this.#bridge}v${number}`,
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      namespace,
    );
    ip('link', 'set', `${this.#bridge}v${number}`, 'master', this.#bridge, 'up');
    ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0');
    for (const device of ['eth0', 'lo']) ip('-n', namespace, 'link', 'set', device, 'up');
    appendFileSync(this.#hosts, `${address} ${options.name}\n`);
    const mounts = { ...options.mounts, '/etc/hosts': this.#hosts };
    const container = new Container({ ...options, mounts }, { address, namespace });
    this.#containers.push(container);
    await container.started();
    return container;
  }

  /**
   * A server of this process, which containers reach. It keeps requests until the test ends them.
   */
  async backend(): Promise<{
    readonly url: string;
    readonly held: ServerResponse[];
    close(): Promise<void>;
  }> {
    const held: ServerResponse[] = [];
    const server = createServer((_request, response) => void held.push(response)).listen(
      0,
      GATEWAY,
    );
    await once(server, 'listening');
    const close = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    return { url: `http://${GATEWAY}:${(server.address() as AddressInfo).port}`, held, close };
  }

  async close(): Promise<void> {
    for (const container of this.#containers) {
      container.signal('SIGKILL');
      await container.exit;
      ip('netns', 'delete', container.place.namespace);
    }
    ip('link', 'delete', this.#bridge);
  }
}

interface Place {
  readonly address: string;
  readonly namespace: string;
}

export class Container {
  readonly place: Place;
  readonly exit: Promise<number | null>;
  #output = '';
  readonly #options: ContainerOptions;
  readonly #child: ChildProcess;

  constructor(options: ContainerOptions, place: Place) {
    this.#options = options;
    this.place = place;
    const script = [...mountLines(options), `exec ${runLine(options)}`].join('\n');
    const unshare = [
      'unshare',
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      'bash',
      '-euc',
      script,
    ];
    this.#child = spawn('ip', ['netns', 'exec', place.namespace, ...unshare], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.on('data', (data) => {
        this.#output += data;
      });
    this.exit = once(this.#child, 'close').then(([code]) => code as number | null);
  }

  get address(): string {
    return this.place.address;
  }

  get output(): string {
    return this.#output;
  }

  /** Until its program has replaced the shell. */
  async started(): Promise<void> {
    const isReplaced = () =>
      this.#pid !== null && readFileSync(`/proc/${this.#pid}/comm`, 'utf8') !== 'bash\n';
    await until(`${this.#options.name} starts`, () => this.isRunning() && isReplaced());
  }

  /** @throws with its output if it has ended */
  isRunning(): true {
    if (this.#child.exitCode !== null)
      throw new Error(`${this.#options.name} ended: ${this.#output.slice(-2_000)}`);
    return true;
  }

  signal(name: NodeJS.Signals): void {
    if (this.#pid !== null) process.kill(this.#pid, name);
  }

  /** Runs a program in the container, as its user or another one. */
  run(
    command: readonly string[],
    user = this.#options.user,
  ): { readonly status: number | null; readonly out: string } {
    const { env } = this.#options;
    const namespaces = ['--mount', '--pid', '--net', '--root', '--wd'];
    const enter = ['--target', `${this.#pid}`, ...namespaces, '-S', `${user}`, '-G', `${user}`];
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const { status, stdout, stderr } = spawnSync(
      'nsenter',
      [...enter, 'env', '-i', ...variables, ...command],
      {
        encoding: 'utf8',
      },
    );
    return { status, out: stdout + stderr };
  }

  /** Process 1 of the container. */
  get #pid(): number | null {
    const { status, stdout } = spawnSync('pgrep', ['--parent', `${this.#child.pid}`], {
      encoding: 'utf8',
    });
    return status === 0 ? Number(stdout) : null;
  }
}

/** A root without `tree` is that of this machine: only the files of `mounts` are laid over it. */
function mountLines({ tree, mounts }: ContainerOptions): string[] {
  const lines = Object.entries(mounts).flatMap(([place, source]) => {
    const target = quote(`${tree ?? ''}${place}`);
    const isFolder = statSync(source).isDirectory();
    const point = isFolder
      ? `mkdir -p ${target}`
      : `mkdir -p "$(dirname ${target})"; [ -e ${target} ] || touch ${target}`;
    return [point, `mount --bind ${quote(source)} ${target}`];
  });
  if (tree === null) return lines;
  for (const place of ['dev/null', 'dev/urandom'])
    mkdirSync(join(tree, dirname(place)), { recursive: true });
  const at = (place: string) => quote(join(tree, place));
  return [
    `touch ${at('dev/null')} ${at('dev/urandom')}`,
    `mount --bind ${quote(tree)} ${quote(tree)}`,
    ...lines,
    `mount --bind /dev/null ${at('dev/null')}`,
    `mount --bind /dev/urandom ${at('dev/urandom')}`,
    `mount -t tmpfs tmpfs ${at('tmp')}`,
    `mount -t proc proc ${at('proc')}`,
    `mount -o remount,ro,bind ${quote(tree)}`,
  ];
}

function runLine({ tree, env, command, user, folder }: ContainerOptions): string {
  const variables = Object.entries(env).map(([name, value]) => quote(`${name}=${value}`));
  const program = ['env', '-i', `--chdir=${quote(folder)}`, ...variables, ...command.map(quote)];
  return ['chroot', `--userspec=${user}:${user}`, quote(tree ?? '/'), ...program].join(' ');
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}

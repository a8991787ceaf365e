import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { program } from '../runner/programs.ts';
import { COMPILED, MAIN } from './storegate.ts';
import { until } from './until.ts';

/**
 * Opens the socket, reads the messages, and starts the command for each line `start` or signals it.
 */
const SCRIPT = `
import os, signal, socket, sys, threading

path, names, command = sys.argv[1], sys.argv[2], sys.argv[3:]
sockets = []
for name in names.split(':'):
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind(('127.0.0.1', 0))
    one.listen(511)
    sockets.append(os.fdopen(os.dup(one.fileno()), 'rb', closefd=True, buffering=0))
    print(f'port {name} {one.getsockname()[1]}', flush=True)
    one.detach()
notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notes.bind(path)

def report():
    while True:
        text = notes.recv(4096).decode()
        if not text.startswith('BARRIER=1'):
            print('note ' + text.strip().replace('\\n', ' & '), flush=True)

threading.Thread(target=report, daemon=True).start()

def start():
    pid = os.fork()
    if pid == 0:
        for i, one in enumerate(sockets):
            os.dup2(one.fileno(), 100 + i)
        for i in range(len(sockets)):
            os.dup2(100 + i, 3 + i)
            os.close(100 + i)
            os.set_inheritable(3 + i, True)
        env = dict(os.environ, LISTEN_FDS=str(len(sockets)), LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES=names)
        env.update(NOTIFY_SOCKET=path, WATCHDOG_USEC='200000', WATCHDOG_PID=str(os.getpid()))
        os.execvpe(command[0], command, env)
    print(f'pid {pid}', flush=True)

    def wait():
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(f'exit {pid} {code}', flush=True)

    threading.Thread(target=wait, daemon=True).start()

for line in sys.stdin:
    if line == 'start\\n':
        start()
`;

/** On SIGUSR2 the event loop stands still until the process is killed. */
const MAY_HANG =
  'data:text/javascript,process.on("SIGUSR2",()=>{process._rawDebug("hangs");for(;;)Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0,1e3)})';

/**
 * A service manager that holds the sockets of a gateway in a process of its own. Stop it after use.
 */
export class FakeSystemd {
  readonly ports = new Map<string, number>();
  readonly notes: string[] = [];
  readonly exits = new Map<number, number>();
  readonly pids: number[] = [];
  err = '';
  out = '';
  readonly #child: ChildProcess;

  private constructor(folder: string, names: string, env: Readonly<Record<string, string>>) {
    const serve = [process.execPath, `--import=${MAY_HANG}`, MAIN, 'serve', '--no-demo-keys'];
    this.#child = spawn(
      program('python3'),
      ['-c', SCRIPT, join(folder, 'notify'), names, ...serve],
      {
        cwd: folder,
        env: {
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: COMPILED,
          STOREGATE_CONFIG: 'gateway.yaml',
          ...env,
        },
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: true,
      },
    );
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#read(line));
    this.#child.stderr!.on('data', (chunk) => {
      this.err += chunk;
    });
  }

  static async start(
    folder: string,
    names: string,
    env: Readonly<Record<string, string>>,
  ): Promise<FakeSystemd> {
    const systemd = new FakeSystemd(folder, names, env);
    await systemd.startService();
    return systemd;
  }

  get pid(): number {
    return this.pids.at(-1)!;
  }

  noted(text: string): string[] {
    return this.notes.filter((note) => note.includes(text));
  }

  /** Resolves once it is ready. */
  async startService(): Promise<void> {
    const before = this.noted('READY=1').length;
    const pids = this.pids.length;
    this.#child.stdin!.write('start\n');
    await until(
      'it is ready, or has ended',
      () => this.noted('READY=1').length > before || this.exits.has(this.pids[pids]!),
    );
    if (this.exits.has(this.pid)) throw new Error(`it ended: ${this.err}`);
  }

  async ended(pid = this.pid): Promise<number> {
    await until('the gateway has ended', () => this.exits.has(pid));
    return this.exits.get(pid)!;
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, 'close');
    process.kill(-this.#child.pid!, 'SIGKILL');
    await gone;
  }

  #read(line: string): void {
    const [kind, one = '', other = ''] = line.split(' ');
    if (kind === 'port') this.ports.set(one, Number(other));
    else if (kind === 'pid') this.pids.push(Number(one));
    else if (kind === 'exit') this.exits.set(Number(one), Number(other));
    else if (kind === 'note') this.notes.push(line.slice('note '.length));
    else this.out += `${line}\n`;
  }
}

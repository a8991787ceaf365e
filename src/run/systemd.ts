import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { ExpectedError } from '../common/expected-error.ts';

/** File descriptors of sockets that this process inherited. */
export interface InheritedSockets {
  readonly public?: number;
  readonly admin?: number;
}

export class SystemdError extends ExpectedError {}

type Environment = Record<string, string | undefined>;

/** SD_LISTEN_FDS_START, sd_listen_fds(3). */
const FIRST_FD = 3;
const NAMES: readonly string[] = [
  'public',
  'admin',
] satisfies (keyof InheritedSockets)[];
/** unix(7): bytes of a path. */
const LONGEST_PATH = 107;
const LONGEST_INTERVAL = 2 ** 31 - 1;

/**
 * Also removes the variables from `env`, because child processes inherit it. Throws SystemdError.
 */
export function openSystemd(
  env: Environment,
  warn: (sentence: string) => void,
) {
  const take = (name: string) => {
    const value = env[name];
    delete env[name];
    return value;
  };
  const [fds, pid, names] = ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES'].map(
    take,
  );
  const [socket, usec, watchdogPid] = [
    'NOTIFY_SOCKET',
    'WATCHDOG_USEC',
    'WATCHDOG_PID',
  ].map(take);
  // sd_listen_fds(3): the variables of another process are not for this one.
  const sockets =
    fds !== undefined && pid === `${process.pid}`
      ? inheritedSockets(fds, names ?? '')
      : {};
  if (socket === undefined) return { sockets, ...notifier(null, null, warn) };
  if (!/^[/@]/.test(socket) || Buffer.byteLength(socket) > LONGEST_PATH)
    throw new SystemdError('NOTIFY_SOCKET is not a valid path of a socket.');
  const isWatched =
    usec !== undefined &&
    (watchdogPid ?? `${process.pid}`) === `${process.pid}`;
  return {
    sockets,
    ...notifier(
      { PATH: env.PATH, NOTIFY_SOCKET: socket },
      isWatched ? intervalOf(usec) : null,
      warn,
    ),
  };
}

function inheritedSockets(fds: string, names: string): InheritedSockets {
  const all = names.split(':');
  if (
    fds !== `${all.length}` ||
    new Set(all).size < all.length ||
    !all.every((name) => NAMES.includes(name))
  )
    throw new SystemdError(
      'LISTEN_FDNAMES must name each socket of LISTEN_FDS once: public or admin. Set FileDescriptorName= of the unit.',
    );
  all.forEach((name, i) => {
    if (!isSocket(FIRST_FD + i))
      throw new SystemdError(
        `LISTEN_FDS: the file descriptor of ${name} is not a socket.`,
      );
  });
  return Object.fromEntries(all.map((name, i) => [name, FIRST_FD + i]));
}

function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EBADF') return false;
    throw error;
  }
}

/** Half of the time after which systemd ends the service, in milliseconds. */
function intervalOf(usec: string): number {
  if (!/^[1-9]\d{0,15}$/.test(usec))
    throw new SystemdError(
      'WATCHDOG_USEC is not a valid number of microseconds.',
    );
  return Math.min(Math.max(Number(usec) / 2_000, 1), LONGEST_INTERVAL);
}

export type Systemd = ReturnType<typeof openSystemd>;

/** `env`: of the sender; `null`: systemd expects no messages. `interval` in milliseconds. */
function notifier(
  env: Environment | null,
  interval: number | null,
  warn: (sentence: string) => void,
) {
  let sender: ReturnType<typeof startSender> | undefined;
  let isReady = false;
  let pings: NodeJS.Timeout | undefined;

  function send(...variables: readonly string[]): void {
    if (env === null) return;
    sender ??= startSender(env, warn);
    sender.send(`${variables.join('\t')}\n`);
  }

  return {
    ready(status: string): void {
      isReady = true;
      send('READY=1', `STATUS=${status}`);
      if (interval === null) return;
      // A timer of the event loop, so that a hung process sends nothing.
      pings = setInterval(() => send('WATCHDOG=1'), interval).unref();
    },
    /** Like `reloaded`, ignored before `ready`. */
    reloading(): void {
      if (!isReady) return;
      // CLOCK_MONOTONIC, as systemd compares it.
      send(
        'RELOADING=1',
        `MONOTONIC_USEC=${process.hrtime.bigint() / 1_000n}`,
        'STATUS=Reloading',
      );
    },
    reloaded(status: string): void {
      if (isReady) send('READY=1', `STATUS=${status}`);
    },
    stopping: () => send('STOPPING=1', 'STATUS=Finishing open requests'),
    /** Resolves after all messages. */
    async close(): Promise<void> {
      clearInterval(pings);
      await sender?.close();
    },
  };
}

/**
 * Node.js has no datagram sockets of AF_UNIX: a process of systemd-notify sends each message. One
 * shell starts them in order, because each fork of the gateway would stall its event loop, longer
 * the more memory it has. The shell holds no inherited socket, ignores signals for the whole
 * service, and ends with its input.
 */
const SENDER = `trap '' HUP INT TERM; exec 3>&- 4>&-; set -f; IFS='\t'
while read -r line; do timeout 10 systemd-notify $line; done`;

function startSender(env: Environment, warn: (sentence: string) => void) {
  const shell = spawn('sh', ['-c', SENDER], {
    env,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  let isClosing = false;
  const ended = new Promise<void>((resolve) => {
    const end = (reason: string) => {
      if (!isClosing) warn(`systemd gets no messages: ${reason}`);
      resolve();
    };
    shell.once('error', ({ message }) => end(message));
    shell.once('exit', (code, signal) =>
      end(`their process ended with ${signal ?? `code ${code}`}`),
    );
  });
  // The end of the process has been reported.
  shell.stdin.on('error', () => {});
  return {
    send: (line: string) => shell.stdin.write(line),
    close(): Promise<void> {
      isClosing = true;
      shell.stdin.end();
      return ended;
    },
  };
}

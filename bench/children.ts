import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Place, placed } from './processors.ts';

export interface Command {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** The caller's own environment does not reach a child. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly port: number;
  readonly place?: Place;
  /** What the shell does with the output, such as `> /dev/null`. */
  readonly redirection?: string | undefined;
}

export interface Child {
  readonly pid: number;
  readonly port: number;
  /** Sends SIGTERM; kills and reports a child that has not ended after 30 seconds. */
  stop(): Promise<void>;
}

const READY_WITHIN = 60_000;
const STOPPED_WITHIN = 30_000;

const REAPER =
  'while read -r group; do groups="$groups -$group"; done; kill -s KILL -- $groups; rm -rf -- "$0"';

/**
 * Each child has its own process group. A small shell kills them at the end of a pipe, which ends
 * with the run even if killed.
 */
export class Children {
  readonly folder = mkdtempSync(join(tmpdir(), 'storegate-bench-'));
  readonly #reaper = spawn('/bin/sh', ['-c', REAPER, this.folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });

  #closing = false;

  async start(command: Command): Promise<Child> {
    const log = join(this.folder, `${command.name}.log`);
    const process = this.#spawn(command, log);
    const ended = once(process, 'exit');
    let expected = true;
    ended.then(([code, signal]) => {
      if (!expected && !this.#closing)
        console.error(`${command.name} ended (${code ?? signal}):\n${endOf(log)}`);
    });
    this.#reaper.stdin!.write(`${process.pid}\n`);
    const deadline = Date.now() + READY_WITHIN;
    while (!(await accepts(command.port))) {
      if (process.exitCode !== null || process.signalCode !== null || Date.now() > deadline) {
        throw new Error(`${command.name} did not start:\n${endOf(log)}`);
      }
      await pause(20);
    }
    expected = false;
    return {
      pid: process.pid!,
      port: command.port,
      stop: async () => {
        expected = true;
        process.kill('SIGTERM');
        const deadline = setTimeout(() => {
          console.error(
            `${command.name} did not stop within ${STOPPED_WITHIN / 1_000} s and was killed`,
          );
          process.kill('SIGKILL');
        }, STOPPED_WITHIN);
        await ended;
        clearTimeout(deadline);
      },
    };
  }

  async close(): Promise<void> {
    this.#closing = true;
    const gone = once(this.#reaper, 'exit');
    this.#reaper.stdin!.end();
    await gone;
  }

  #spawn({ env, cwd, place = 'measured', ...command }: Command, log: string): ChildProcess {
    const output = openSync(log, 'a');
    const [file, args] = redirected(command);
    const child = spawn(...placed(place, file, args), {
      cwd: cwd ?? this.folder,
      env: { PATH: process.env.PATH, HOME: this.folder, ...env },
      detached: true,
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    child.on('error', (error) => {
      throw error;
    });
    return child;
  }
}

function redirected({ file, args, redirection }: Pick<Command, 'file' | 'args' | 'redirection'>) {
  if (redirection === undefined) return [file, args] as const;
  return ['/bin/sh', ['-c', `exec "$@" ${redirection}`, 'sh', file, ...args]] as const;
}

function endOf(log: string): string {
  return readFileSync(log, 'utf8').slice(-2_000);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { program } from '../runner/programs.ts';

/**
 * The wall clock of real processes, set while they run; their monotonic clock stays as it is. Not
 * libfaketime, which ends a redis-server with jemalloc at its start.
 */
export class WallClock {
  readonly #file: string;
  readonly #library: string;

  /** `folder` holds the files of the clock. */
  constructor(folder: string) {
    this.#file = join(folder, 'wall-clock');
    this.#library = join(folder, 'wall-clock.so');
    this.set(0);
    const source = join(import.meta.dirname, 'wall-clock.c');
    execFileSync(program('gcc'), ['-shared', '-fPIC', '-O1', '-o', this.#library, source]);
  }

  /** Seconds that the clock is ahead of the true time. */
  set(ahead: number): void {
    writeFileSync(this.#file, `${ahead}\n`);
  }

  /** For the environment of a process. */
  get env(): Readonly<Record<string, string>> {
    return { LD_PRELOAD: this.#library, WALL_CLOCK: this.#file };
  }
}

/**
 * A machine with a wall clock of its own, which outlives the processes on it. Times are
 * milliseconds.
 */
export class Machine {
  readonly name: string;
  readonly folder: string;
  /**
   * What the wall clock was ahead of the true time at `#since`, and what it gains in a millisecond.
   */
  #offset = 0;
  #drift = 0;
  #since = 0;
  /** How long it did not run: the monotonic clock does not count this time. */
  suspended = 0;

  constructor(name: string, folder: string) {
    this.name = name;
    this.folder = folder;
  }

  /** Unix milliseconds by its wall clock at the true time `now`. */
  wallAt(now: number): number {
    return now + this.aheadAt(now);
  }

  aheadAt(now: number): number {
    return this.#offset + this.#drift * (now - this.#since);
  }

  /** The clock is `offset` ahead from now on. */
  setClock(now: number, offset: number): void {
    this.#offset = offset;
    this.#since = now;
  }

  /** The clock gains `drift` milliseconds in each millisecond. */
  setDrift(now: number, drift: number): void {
    this.setClock(now, this.aheadAt(now));
    this.#drift = drift;
  }
}

/** Work that reaches a process and is held while the process is stopped. */
export type Work = () => void;

/** A process of the simulation. It ends when it is killed: then nothing reaches it any more. */
export class Process {
  readonly name: string;
  readonly machine: Machine;
  readonly bornAt: number;
  /** The wall clock when the process started, as `performance.timeOrigin`. */
  readonly timeOrigin: number;
  readonly #suspendedBefore: number;
  readonly #atEnd = new Set<() => void>();
  isAlive = true;
  isStopped = false;
  held: Work[] = [];

  constructor(name: string, machine: Machine, now: number) {
    this.name = name;
    this.machine = machine;
    this.bornAt = now;
    this.timeOrigin = machine.wallAt(now);
    this.#suspendedBefore = machine.suspended;
  }

  /** As `performance.now()`. */
  monotonicAt(now: number): number {
    return now - this.bornAt - (this.machine.suspended - this.#suspendedBefore);
  }

  /** The system calls `release` when the process ends, as it closes files and sockets. */
  whenEnded(release: () => void): () => void {
    this.#atEnd.add(release);
    return () => void this.#atEnd.delete(release);
  }

  kill(): void {
    this.isAlive = false;
    this.held = [];
    for (const release of this.#atEnd) release();
    this.#atEnd.clear();
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { arrived } from '../../contract/carried.ts';
import { type Contract, ContractError } from '../../contract/contract.ts';
import { createContract } from '../../contract/served.ts';
import { ANSWER_FD, type Answer, Gathered } from './answer.ts';
import { type Order, type Prepared, readContract } from './read.ts';

/** The loader was closed before it had read the contract. */
export class LoadingEnded extends Error {
  override name = 'LoadingEnded';
}

/** A contract for this process, and the form in which others get it. */
export interface Loaded {
  readonly contract: Contract;
  readonly prepared: Prepared;
}

/** In bytes. At the start nobody waits, and a contract up to this size is read sooner than a process begins. */
const SMALL = 256 * 1024;

const READER = resolve(import.meta.dirname, 'reader.ts');

/**
 * Reads contracts, each in a process of its own, which ends with it: no request waits, and no memory stays. A thread would leave
 * what it took from the system to this process: 130 MB after Kubernetes' contract, and half of it for good.
 */
export class ContractLoader {
  readonly #reader: string;
  readonly #processes = new Set<ChildProcess>();
  #closed = false;

  /** `reader` is for tests: the module that the process runs. */
  constructor(reader: string = READER) {
    this.#reader = reader;
  }

  /** Ids of the processes that read now. */
  get reading(): readonly (number | undefined)[] {
    return [...this.#processes].map(({ pid }) => pid);
  }

  /** For a process that serves nobody yet. Rejects as `load`. */
  async loadFirst(order: Order): Promise<Loaded> {
    return sizeOf(order.file) <= SMALL ? loadedOf(readContract(order)) : await this.load(order);
  }

  /** Rejects with ContractError for every mistake, with LoadingEnded after `close`; any other error is a bug. */
  async load(order: Order): Promise<Loaded> {
    const answer = await this.#ask(order);
    if (answer.kind === 'unfit') throw new ContractError(answer.problems, answer.notes);
    if (answer.kind === 'bug') throw answer.error;
    const { prepared } = answer;
    // Requests may come between these.
    await nextTurn();
    const checked = arrived(prepared.carried);
    await nextTurn();
    return { contract: createContract(checked), prepared };
  }

  /** Ends the processes that still read. */
  close(): void {
    this.#closed = true;
    for (const process of this.#processes) process.kill('SIGKILL');
  }

  async #ask(order: Order): Promise<Answer> {
    if (this.#closed) throw new LoadingEnded();
    const args = [...process.execArgv, this.#reader, JSON.stringify(order)];
    const reader = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
    this.#processes.add(reader);
    try {
      const gathered = new Gathered();
      (reader.stdio[ANSWER_FD] as Readable).on('data', (chunk: Buffer) => gathered.add(chunk));
      const [code, signal] = await once(reader, 'close');
      if (this.#closed) throw new LoadingEnded();
      const { answer } = gathered;
      if (!answer) throw new Error(`the process that reads the contract ended with ${signal ?? `code ${code}`}`);
      return answer;
    } finally {
      this.#processes.delete(reader);
    }
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    // Reading the file tells what is wrong with it.
    return 0;
  }
}

export function loadedOf(prepared: Prepared): Loaded {
  return { contract: createContract(arrived(prepared.carried)), prepared };
}

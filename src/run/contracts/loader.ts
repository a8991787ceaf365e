import { statSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { deserialize as deserializeResult, getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { ContractError, fingerprintOf, inTurns } from '@storegate/openapi';
import { prefixOf } from '../../config/apis.ts';
import { type Contract, deserialize } from '../../config/contract/contract.ts';
import { isRemote } from '../../config/contract/place.ts';
import {
  type PublishingSettings,
  publicationOf,
} from '../../gateway/own/published/document.ts';
import { OUT_OF_MEMORY } from './pipe.ts';
import {
  type Order,
  type Prepared,
  type ReadResult,
  readContract,
} from './read.ts';
import { type CopyInUse, type Fetched, fetchOrCopy } from './remote.ts';
import type { Arguments, ThreadMessage } from './starter.ts';

export class LoadingEnded extends Error {}

export interface Loaded {
  readonly contract: Contract;
  readonly prepared: Prepared;
  /** The URL is unreachable. */
  readonly copy?: CopyInUse;
  /** For the copy, once it is in force. */
  readonly fetched?: Fetched;
}

/** `data`: for copies of contracts from a URL. */
export interface Request extends PublishingSettings {
  readonly contract: Omit<Order, 'publication'> &
    PublishingSettings['contract'];
  readonly data: string;
  /** The setting or variable with the path. */
  readonly namedBy?: string;
  /** Of the API; others than the default one begin the names of its operations. */
  readonly name: string;
}

/** In bytes: read faster than a process starts. At the start no request waits. */
const SMALL = 256 * 1024;

/**
 * In milliseconds of wall time, because a reader that hangs may use no CPU. The largest public
 * documents take 13 s; a busy machine gives the reader a fraction of its CPU.
 */
const DEADLINE = 180_000;

/** In MiB, of the reading process: twice what the largest public documents take. */
const MEMORY = 2_048;

const READER = resolve(import.meta.dirname, 'reader.ts');
const STARTER = resolve(import.meta.dirname, 'starter.ts');

/**
 * A process returns all its memory, a thread would not. A thread starts it, because starting a
 * process blocks its caller.
 */
export class ContractLoader {
  readonly #reader: string;
  readonly #deadline: number;
  readonly #memory: number;
  readonly #processes = new Set<number>();
  readonly #ended = new AbortController();

  /** `deadline`: milliseconds. `memory`: MiB. */
  constructor(
    reader: string = READER,
    deadline: number = DEADLINE,
    memory: number = MEMORY,
  ) {
    this.#reader = reader;
    this.#deadline = deadline;
    // V8 has a lower limit on a small machine.
    const most = getHeapStatistics().heap_size_limit / 2 ** 20;
    this.#memory = Math.floor(Math.min(memory, most));
  }

  get reading(): readonly number[] {
    return [...this.#processes];
  }

  /** For a process that serves no requests yet. Rejects as `load`. */
  loadFirst(request: Request): Promise<Loaded> {
    return this.#load(request, (order) =>
      this.#readFirst(order, prefixOf(request)),
    );
  }

  /** Rejects with ContractError, also past the deadline, and with LoadingEnded after `close`. */
  load(request: Request): Promise<Loaded> {
    return this.#load(request, (order) => this.#read(order, prefixOf(request)));
  }

  async #load(
    request: Request,
    read: (order: Order) => Promise<Loaded>,
  ): Promise<Loaded> {
    const { data } = request;
    const contract: Order = {
      ...request.contract,
      publication: publicationOf(request),
      ...(request.namedBy !== undefined && { namedBy: request.namedBy }),
    };
    if (!isRemote(contract.file)) return await read(contract);
    const { signal } = this.#ended;
    const { fetched, copy } = await fetchOrCopy(contract.file, data, {
      signal,
    });
    const loaded = await inFile(fetched.text, (textFile) =>
      read({ ...contract, textFile }),
    );
    return copy === null ? { ...loaded, fetched } : { ...loaded, copy };
  }

  async #readFirst(order: Order, api: string | null): Promise<Loaded> {
    return sizeOf(order.textFile ?? order.file) <= SMALL
      ? await loadedOf(readContract(order), api)
      : await this.#read(order, api);
  }

  async #read(order: Order, api: string | null): Promise<Loaded> {
    const result = await this.#ask(order);
    if (result.kind === 'unfit')
      throw new ContractError(result.problems, result.notes);
    if (result.kind === 'bug') throw result.error;
    return await loadedOf(result.prepared, api);
  }

  close(): void {
    this.#ended.abort(new LoadingEnded());
    for (const pid of this.#processes) end(pid);
  }

  async #ask(order: Order): Promise<ReadResult> {
    this.#ended.signal.throwIfAborted();
    // The reader lowers the priority of its main thread only: V8's other threads would compete with
    // requests.
    const flags = [
      ...process.execArgv,
      '--single-threaded-gc',
      `--max-old-space-size=${this.#memory}`,
    ];
    const args: Arguments = [...flags, this.#reader, JSON.stringify(order)];
    let pid: number | undefined;
    let isLate = false;
    const started = (id: number) => {
      pid = id;
      this.#processes.add(id);
      if (this.#ended.signal.aborted || isLate) end(id);
    };
    const timer = setTimeout(() => {
      isLate = true;
      if (pid !== undefined) end(pid);
    }, this.#deadline);
    const { code, signal, bytes } = await inThread(args, started).finally(
      () => {
        clearTimeout(timer);
        this.#processes.delete(pid!);
      },
    );
    this.#ended.signal.throwIfAborted();
    if (isLate)
      throw tooLarge(order, `was not read within ${this.#deadline / 1_000} s`);
    if (signal === OUT_OF_MEMORY)
      throw tooLarge(order, `takes more than ${this.#memory} MiB to read`);
    if (code !== 0)
      throw new Error(
        `the process that reads the contract ended with ${signal ?? `code ${code}`}`,
      );
    return deserializeResult(new Uint8Array(bytes)) as ReadResult;
  }
}

function tooLarge({ file }: Order, reason: string): ContractError {
  const message = `${reason}; make the contract smaller or simpler`;
  return new ContractError([{ file, place: '', message }]);
}

async function inFile<T>(
  text: string,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'storegate-contract-'));
  try {
    const file = join(folder, 'contract');
    await writeFile(file, text, { mode: 0o600 });
    return await work(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function inThread(
  args: Arguments,
  started: (pid: number) => void,
): Promise<Extract<ThreadMessage, { kind: 'ended' }>> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(STARTER, { workerData: args });
    thread.on('message', (message: ThreadMessage) =>
      message.kind === 'started' ? started(message.pid) : resolve(message),
    );
    thread.on('error', reject);
    thread.on('exit', () =>
      reject(new Error('the thread that starts processes said nothing')),
    );
  });
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    // Reading the file reports what is wrong with it.
    return 0;
  }
}

/** `api`: as in `createContract`. */
export async function loadedOf(
  prepared: Prepared,
  api: string | null,
): Promise<Loaded> {
  const contract = await inTurns(deserialize(prepared.contract, api));
  return { contract, prepared };
}

export async function isUnchanged({ files }: Contract): Promise<boolean> {
  try {
    for (const [file, fingerprint] of files) {
      if (fingerprintOf(await readFile(file)) !== fingerprint) return false;
    }
    return true;
  } catch {
    return false;
  }
}

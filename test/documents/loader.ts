import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Examples } from './examples.ts';
import type { Judgement } from './requests.ts';

export interface Order {
  readonly file: string;
  /** `null`: no request is made. */
  readonly tools: string | null;
}

export interface Outcome {
  readonly operations: number;
  readonly notes: number;
  readonly problems: readonly { file: string; pointer: string; message: string }[];
  /** Until the contract is loaded. */
  readonly cpuSeconds: number;
  /** The most memory of the process, in MiB, which a large document has for itself. */
  readonly memory: number;
  /** `null` if no request was made, or the document was refused. */
  readonly judgement: Judgement | null;
  /** Of the reference; `null` as `judgement`. */
  readonly examples: Examples | null;
}

/** In bytes: such a document has a process for itself. */
const LARGE = 2_000_000;

/** In bytes: plain ajv needs minutes for a larger one, so no request is made. */
const TOO_LARGE = 20_000_000;

const OPTIONS = ['--disable-warning=ExperimentalWarning', '--max-old-space-size=8000'];
const MINUTES = 60_000;

/** Loads documents in another process, one at a time. */
export class Loader {
  readonly #tools: string | null;
  #process: ChildProcess | null = null;

  constructor(tools: string | null) {
    this.#tools = tools;
  }

  /** @throws Error if the process ends, or takes more than ten minutes. */
  async load(file: string): Promise<Outcome> {
    const { size } = statSync(file);
    const isLarge = size > LARGE;
    if (isLarge) this.stop();
    this.#process ??= fork(join(import.meta.dirname, 'loader-process.ts'), [], {
      execArgv: OPTIONS,
    });
    const outcome = await responseOf(this.#process, {
      file,
      tools: size > TOO_LARGE ? null : this.#tools,
    });
    if (isLarge) this.stop();
    return outcome;
  }

  stop(): void {
    this.#process?.kill();
    this.#process = null;
  }
}

async function responseOf(process: ChildProcess, order: Order): Promise<Outcome> {
  const answered = new AbortController();
  const signal = AbortSignal.any([answered.signal, AbortSignal.timeout(10 * MINUTES)]);
  const response = once(process, 'message', { signal }).then(([outcome]) => outcome as Outcome);
  const end = once(process, 'exit', { signal }).then(([code]) => {
    throw new Error(`${order.file}: the process ended with ${code}`);
  });
  process.send(order);
  try {
    return await Promise.race([response, end]);
  } finally {
    answered.abort();
    await Promise.allSettled([response, end]);
  }
}

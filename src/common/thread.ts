import { Worker } from 'node:worker_threads';

/** `error`: `null` if the request was done. */
export interface ThreadReply {
  readonly number: number;
  readonly error: string | null;
}

/**
 * A thread that begins with the first request and ends after the last one. While it owes an answer
 * it keeps the process. `file`: its module, which sends an answer for each request with a number.
 */
export function createThread<
  Request extends { readonly type: string },
  Answer extends ThreadReply,
>(file: string, data: unknown) {
  const waiting = new Map<number, (answer: Answer | ThreadReply) => void>();
  let thread: Worker | null = null;
  let lastNumber = 0;
  let isClosing = false;
  let isClosed = false;

  function start() {
    const started = new Worker(file, { workerData: data });
    started.unref();
    started.on('message', (answer: Answer) => {
      waiting.get(answer.number)?.(answer);
      waiting.delete(answer.number);
      // Otherwise it would keep an idle process.
      if (waiting.size === 0 && !isClosing) started.unref();
    });
    const ended = (error: string) => {
      if (thread === started) thread = null;
      for (const [number, answer] of waiting) answer({ number, error });
      waiting.clear();
    };
    started.on('error', (error) => ended(error.message));
    started.on('exit', () => ended(`the thread ${file} has ended`));
    return started;
  }

  function send(request: Request) {
    if (isClosed) return;
    thread ??= start();
    thread.postMessage(request);
  }

  /** An answer without more than an error comes from a thread that has ended. */
  function ask(of: (number: number) => Request) {
    const number = ++lastNumber;
    if (isClosed)
      return Promise.resolve({ number, error: `the thread ${file} is closed` });
    return new Promise<Answer | ThreadReply>((resolve) => {
      waiting.set(number, resolve);
      send(of(number));
      thread!.ref();
    });
  }

  return {
    get isRunning() {
      return thread !== null;
    },
    send,
    ask,
    /** The answer to the last request, when the thread has ended. */
    async close(of: (number: number) => Request) {
      isClosing = true;
      if (thread === null) {
        isClosed = true;
        return null;
      }
      const ended = new Promise((resolve) => thread!.once('exit', resolve));
      const answer = ask(of);
      isClosed = true;
      await ended;
      return await answer;
    },
  };
}

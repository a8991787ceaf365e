import { Worker } from 'node:worker_threads';

/** `error`: `null` if the request was done. */
export interface ThreadReply {
  readonly number: number;
  readonly error: string | null;
}

/**
 * A thread that begins with the first request and ends after the last one. While it owes a reply
 * it keeps the process. `file`: its module, which replies to each request with a number.
 */
export function createThread<
  Request extends { readonly type: string },
  Reply extends ThreadReply,
>(file: string, data: unknown) {
  const waiting = new Map<number, (reply: Reply | ThreadReply) => void>();
  let thread: Worker | null = null;
  let lastNumber = 0;
  let isClosing = false;
  let isClosed = false;

  function start() {
    const started = new Worker(file, { workerData: data });
    started.unref();
    started.on('message', (reply: Reply) => {
      waiting.get(reply.number)?.(reply);
      waiting.delete(reply.number);
      // Otherwise it would keep an idle process.
      if (waiting.size === 0 && !isClosing) started.unref();
    });
    const ended = (error: string) => {
      if (thread === started) thread = null;
      for (const [number, reply] of waiting) reply({ number, error });
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

  /** A reply without more than an error comes from a thread that has ended. */
  function ask(of: (number: number) => Request) {
    const number = ++lastNumber;
    if (isClosed)
      return Promise.resolve({ number, error: `the thread ${file} is closed` });
    return new Promise<Reply | ThreadReply>((resolve) => {
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
    /** The reply to the last request, when the thread has ended. */
    async close(of: (number: number) => Request) {
      isClosing = true;
      if (thread === null) {
        isClosed = true;
        return null;
      }
      const ended = new Promise((resolve) => thread!.once('exit', resolve));
      const reply = ask(of);
      isClosed = true;
      await ended;
      return await reply;
    },
  };
}

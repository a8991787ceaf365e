import { ExpectedError, isExpected } from '../../common/expected-error.ts';

/** Arguments and responses must be structured-cloneable. */
// biome-ignore lint/suspicious/noExplicitAny: each name has types of its own.
type Calls = { readonly [name: string]: (argument: any) => unknown };

type Argument<F extends Calls[string]> = Parameters<F>[0];
type Result<F extends Calls[string]> = Awaited<ReturnType<F>>;

export type Handlers<C extends Calls> = {
  readonly [N in keyof C]: (
    argument: Argument<C[N]>,
  ) => ReturnType<C[N]> | Promise<Result<C[N]>>;
};

/** Other messages, such as those of node:cluster, are ignored. */
type Frame =
  | {
      readonly storegate: 'call';
      readonly id: number;
      readonly name: string;
      readonly argument: unknown;
    }
  | {
      readonly storegate: 'result';
      readonly id: number;
      readonly value: unknown;
    }
  /** An error that is not expected is a bug, and its stack matters. */
  | {
      readonly storegate: 'failure';
      readonly id: number;
      readonly error: ErrorParts;
      readonly expected: boolean;
    };

type ErrorParts = Readonly<Record<'message' | 'stack', string>>;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** No response arrived in time, or the other side has exited. */
export class NoResponse extends Error {
  override name = 'NoResponse';
}

/** A reason in one sentence. */
export class WorkersError extends ExpectedError {}

export interface ChannelOptions<Ours extends Calls> {
  readonly send: (frame: object, sent: (error: Error | null) => void) => void;
  readonly peer: string;
  readonly handlers: Handlers<Ours>;
}

/** Each call has a deadline. Frames arrive in order. */
export function createChannel<Theirs extends Calls, Ours extends Calls>({
  send,
  peer,
  handlers,
}: ChannelOptions<Ours>) {
  const pending = new Map<number, Pending>();
  let calls = 0;
  let closed: NoResponse | null = null;

  return {
    /**
     * If the other side threw, rejects with WorkersError, or with an error that has the remote stack
     * if it is a bug. Rejects with NoResponse after `deadline` milliseconds.
     */
    call<N extends keyof Theirs & string>(
      name: N,
      argument: Argument<Theirs[N]>,
      deadline: number,
    ): Promise<Result<Theirs[N]>> {
      return new Promise((resolve, reject) => {
        if (closed) return reject(closed);
        const id = ++calls;
        const late = () =>
          settle(id)?.reject(
            new NoResponse(`${peer} did not respond within ${deadline} ms`),
          );
        const timer = setTimeout(late, deadline).unref();
        pending.set(id, {
          resolve: resolve as Pending['resolve'],
          reject,
          timer,
        });
        send(
          { storegate: 'call', id, name, argument } satisfies Frame,
          (error) => {
            if (error)
              settle(id)?.reject(
                new NoResponse(`${peer} cannot be reached`, { cause: error }),
              );
          },
        );
      });
    },
    receive(message: unknown): void {
      if (!isFrame(message)) return;
      if (message.storegate === 'call') void respond(message);
      else if (message.storegate === 'result')
        settle(message.id)?.resolve(message.value);
      else {
        const { id, error, expected } = message;
        settle(id)?.reject(
          Object.assign(
            expected ? new WorkersError(error.message) : new Error(),
            error,
          ),
        );
      }
    },
    /** Rejects all pending and later calls. */
    close(reason: string): void {
      closed ??= new NoResponse(`${peer} is gone: ${reason}`);
      for (const id of [...pending.keys()]) settle(id)!.reject(closed);
    },
  };

  async function respond({
    id,
    name,
    argument,
  }: Extract<Frame, { storegate: 'call' }>): Promise<void> {
    const reply = (frame: Frame) => void (closed ?? send(frame, () => {}));
    try {
      const value = await handlers[name]!(argument);
      reply({ storegate: 'result', id, value });
    } catch (error) {
      const { message = String(error), stack = message } = Object(
        error,
      ) as Partial<Error>;
      reply({
        storegate: 'failure',
        id,
        error: { message, stack },
        expected: isExpected(error),
      });
    }
  }

  function settle(id: number): Pending | undefined {
    const settled = pending.get(id);
    pending.delete(id);
    clearTimeout(settled?.timer);
    return settled;
  }
}

export type Channel<Theirs extends Calls, Ours extends Calls> = ReturnType<
  typeof createChannel<Theirs, Ours>
>;

function isFrame(message: unknown): message is Frame {
  return (
    typeof message === 'object' && message !== null && 'storegate' in message
  );
}

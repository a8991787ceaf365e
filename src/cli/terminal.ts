/** The parts of the process that commands use. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Asks a person; absent if there is none. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  /** All of standard input. */
  readonly input: () => Promise<string>;
  /** Whether `out` is a terminal. */
  readonly isTerminal: boolean;
  /** Columns of the terminal behind `out`, if it is one. */
  readonly width?: number | undefined;
  /** Whether `err` is a terminal, for progress lines. */
  readonly errIsTerminal: boolean;
  /** Calls back on SIGHUP. Returns a function that stops the calls. */
  readonly onHangup: (listener: () => void) => () => void;
  /** Aborts on SIGINT and SIGTERM. */
  readonly stop: AbortSignal;
  /** Aborts when the reader of `out` has closed the pipe. */
  readonly unread: AbortSignal;
}

/** Resolves on SIGINT and SIGTERM. */
export function untilStopped({ stop }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener('abort', () => resolve(), { once: true });
  });
}

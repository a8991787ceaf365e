/** The parts of its process that a command may use. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** All of standard input. */
  readonly input: () => Promise<string>;
  /** Whether `out` is a person's terminal, so that colours make sense. */
  readonly isTerminal: boolean;
  /** Whether `err` is a person's terminal, which shows a line that changes. */
  readonly errIsTerminal: boolean;
  /** Calls back on SIGHUP: the configuration may have changed. Returns a function that stops the calls. */
  readonly onHangup: (listener: () => void) => () => void;
  /** Aborts when the user or the system asks the command to stop. */
  readonly stop: AbortSignal;
  /** Aborts when the program that reads `out` has closed the pipe. */
  readonly unread: AbortSignal;
}

/** Resolves when the user or the system asks the command to stop. */
export function untilStopped({ stop }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener('abort', () => resolve(), { once: true });
  });
}

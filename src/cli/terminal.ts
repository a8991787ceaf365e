/** What a command may use of the process it runs in. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** All of standard input. */
  readonly input: () => Promise<string>;
  /** Whether `out` is a person's terminal, which may have colours. */
  readonly isTerminal: boolean;
  /** Calls back when the system says that the configuration may have changed (SIGHUP). Answers how to stop. */
  readonly onHangup: (listener: () => void) => () => void;
  /** Aborted when the user or the system asks to stop. */
  readonly stop: AbortSignal;
}

/** Resolves when the command is asked to stop. */
export function untilStopped({ stop }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener('abort', () => resolve(), { once: true });
  });
}

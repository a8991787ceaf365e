import { once } from 'node:events';

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Asks the person at the terminal; absent without one. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  readonly input: () => Promise<string>;
  readonly isTerminal: boolean;
  readonly width?: number | undefined;
  readonly errIsTerminal: boolean;
  /** SIGHUP. Returns a function that stops the calls. */
  readonly onHangup: (listener: () => void) => () => void;
  readonly stop: AbortSignal;
  /** Aborts when the reader of `out` has closed the pipe. */
  readonly unread: AbortSignal;
}

export async function untilStopped({
  stop,
}: Pick<Terminal, 'stop'>): Promise<void> {
  if (!stop.aborted) await once(stop, 'abort');
}

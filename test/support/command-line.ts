import { run } from '../../src/cli/run.ts';
import type { Terminal } from '../../src/cli/terminal.ts';

export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly isTerminal?: boolean;
  readonly errIsTerminal?: boolean;
  readonly stop?: AbortSignal;
  readonly unread?: AbortSignal;
}

export type CommandLine = (args: readonly string[], surroundings?: Surroundings) => Promise<Result>;

/** A terminal without a person, in `cwd`. Its output goes nowhere. */
export function terminalIn(cwd: string, surroundings: Surroundings = {}): Terminal {
  const { env = {}, input = '', isTerminal = false, errIsTerminal = false } = surroundings;
  const never = new AbortController().signal;
  return {
    env: { STOREGATE_DATA: 'data', ...env },
    cwd,
    out: () => {},
    err: () => {},
    input: async () => input,
    isTerminal,
    errIsTerminal,
    onHangup: () => () => {},
    stop: surroundings.stop ?? never,
    unread: surroundings.unread ?? never,
  };
}

/**
 * The command line in this process, without `main.js`; its data folder is `data` in `cwd`. `onOut`
 * receives output at once.
 */
export function commandLine(cwd: string, onOut: (text: string) => void = () => {}): CommandLine {
  return async (args, surroundings = {}) => {
    let out = '';
    let err = '';
    const code = await run(args, {
      ...terminalIn(cwd, surroundings),
      out: (text) => {
        out += text;
        onOut(text);
      },
      err: (text) => {
        err += text;
      },
    });
    return { code, out, err };
  };
}

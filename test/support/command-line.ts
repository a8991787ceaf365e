import { run } from '../../src/cli/run.ts';

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

/**
 * The command line in this process, without `main.js`; its data folder is `data` in `cwd`. `onOut` receives output at
 * once.
 */
export function commandLine(cwd: string, onOut: (text: string) => void = () => {}): CommandLine {
  return async (args, surroundings = {}) => {
    const { env = {}, input = '', isTerminal = false, errIsTerminal = false } = surroundings;
    let out = '';
    let err = '';
    const code = await run(args, {
      env: { STOREGATE_DATA: 'data', ...env },
      cwd,
      out: (text) => {
        out += text;
        onOut(text);
      },
      err: (text) => {
        err += text;
      },
      input: async () => input,
      isTerminal,
      errIsTerminal,
      onHangup: () => () => {},
      stop: surroundings.stop ?? new AbortController().signal,
      unread: surroundings.unread ?? new AbortController().signal,
    });
    return { code, out, err };
  };
}

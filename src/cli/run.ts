import { CommanderError } from 'commander';
import { isExpected } from '../common/expected-error.ts';
import { maskSecrets } from '../common/secret-mask.ts';
import { CallError, type CallFailure } from './connect/api.ts';
import { createProgram } from './program.ts';
import type { Terminal } from './terminal.ts';

const EXIT_CODE_OF: Readonly<Record<CallFailure, number>> = { failed: 1, usage: 2, shut: 3 };

export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = createProgram(terminal);
  try {
    await program.parseAsync(args.length === 0 ? ['serve'] : args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    terminal.err(`${maskSecrets(describe(error))}\n`);
    return error instanceof CallError ? EXIT_CODE_OF[error.failure] : 1;
  }
}

/** The stack only of a bug. */
function describe(error: unknown): string {
  if (isExpected(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

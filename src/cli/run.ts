import { CommanderError } from 'commander';
import { ListenError } from '../common/listen.ts';
import { ConfigError } from '../config/problems/problems.ts';
import { ContractError } from '../contract/contract.ts';
import { KeyError } from '../keys/manage.ts';
import { StateFileError } from '../state/embedded/file.ts';
import { RedisError } from '../state/redis/client.ts';
import { WorkersError } from '../workers/remote-error.ts';
import { StoreError } from './commands/store.ts';
import { createProgram } from './program.ts';
import { CallError } from './reach/api.ts';
import type { Terminal } from './terminal.ts';

/** Mistakes of the user, whose message is enough. Any other error is a bug and shows its stack. */
const EXPECTED = [
  CallError,
  ConfigError,
  ContractError,
  KeyError,
  ListenError,
  RedisError,
  StateFileError,
  StoreError,
  WorkersError,
];

/**
 * Runs one command and returns the exit code: 0 done, 1 failed, 2 wrong command line, 3 the gateway was out of reach or
 * refused the token.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = createProgram(terminal);
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    terminal.err(`${describe(error)}\n`);
    return error instanceof CallError && error.shut ? 3 : 1;
  }
}

function describe(error: unknown): string {
  if (EXPECTED.some((kind) => error instanceof kind)) return (error as Error).message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

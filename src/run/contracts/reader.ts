import { setPriority } from 'node:os';
import { ContractError } from '@storegate/openapi';
import { writeResult } from './pipe.ts';
import { type Order, type ReadResult, readContract } from './read.ts';

// The parent decides when this process ends.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const)
  process.on(signal, () => {});
// Requests come first; a lower priority would delay reloads by minutes.
setPriority(5);

const order: Order = JSON.parse(process.argv[2]!);
writeResult(result());

function result(): ReadResult {
  try {
    return { kind: 'prepared', prepared: readContract(order) };
  } catch (error) {
    return error instanceof ContractError
      ? { kind: 'unfit', problems: error.problems, notes: error.notes }
      : { kind: 'bug', error };
  }
}

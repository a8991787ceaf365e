import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { serialize } from 'node:v8';
import { ContractError } from '@storegate/openapi';
import { type Answer, type Order, readContract } from './read.ts';

/** The pipe of starter.ts. */
const ANSWER_FD = 3;

// The parent decides when this process ends.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => {});
// Requests come first; a lower priority would delay reloads by minutes.
setPriority(5);

const order: Order = JSON.parse(process.argv[2]!);
writeFileSync(ANSWER_FD, serialize(answer()));

function answer(): Answer {
  try {
    return { kind: 'prepared', prepared: readContract(order) };
  } catch (error) {
    return error instanceof ContractError
      ? { kind: 'unfit', problems: error.problems, notes: error.notes }
      : { kind: 'bug', error };
  }
}

import { parentPort } from 'node:worker_threads';
import { compileAdminContract } from './compiled-contract.ts';

/** A thread: compiling takes a second. */
parentPort!.postMessage(compileAdminContract());

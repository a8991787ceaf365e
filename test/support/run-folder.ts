import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILED } from './storegate.ts';

/**
 * Gives a whole run one folder for temporary files, of tests, gateways, servers and browsers alike. It is removed at the end,
 * also with what a process left that a test has killed. And it lets all processes that gateways in tests start find compiled code.
 */
export default function makeRunFolder(): void {
  const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  process.env.TMPDIR = folder;
  process.env.NODE_COMPILE_CACHE = COMPILED;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
}

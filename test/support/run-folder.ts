import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Gives a whole run one folder for temporary files, of tests, gateways, servers and browsers alike. It is removed at the end,
 * also with what a process left that a test has killed.
 */
export default function makeRunFolder(): void {
  const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILED } from '../support/storegate.ts';
import { installMissing } from './install.ts';
import { installCommand, missingPrograms } from './programs.ts';
import { INSTALLED } from './teardown.ts';

/**
 * Installs what suites need, before any of them runs, and gives the whole run one folder for temporary files of tests, gateways,
 * servers and browsers alike. The folder is removed at the end, with what a process left that a test has killed.
 * All processes that tests start find compiled code.
 */
export default async function setUp(): Promise<void> {
  process.env[INSTALLED] = (await installMissing()) ?? '';
  const missing = missingPrograms();
  if (missing.length > 0 && process.env.CI === 'true')
    throw new Error(
      `CI skips no suite, and ${missing.join(', ')} cannot be installed here: ${installCommand(missing)}`,
    );
  const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  process.env.TMPDIR = folder;
  process.env.NODE_COMPILE_CACHE = COMPILED;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
}

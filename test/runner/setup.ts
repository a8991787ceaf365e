import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILED } from '../support/storegate.ts';
import { bundleProgram, PROGRAM } from './bundled-program.ts';
import { installMissing } from './install.ts';
import { installCommand, missingPrograms } from './programs.ts';
import { INSTALLED } from './teardown.ts';

/**
 * Installs what suites need, and gives the run one folder for all temporary files, which is removed
 * at the end, with the files of killed processes.
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
  process.env[PROGRAM] = await bundleProgram();
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
}

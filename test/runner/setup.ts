import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
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
  const folder = mkdtempSync(join(temporaryFolder(), 'storegate-'));
  process.env.TMPDIR = folder;
  process.env.NODE_COMPILE_CACHE = COMPILED;
  process.env[PROGRAM] = await bundleProgram();
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
}

const MEMORY = '/dev/shm';
/** In bytes: several times what a run writes. */
const ROOM = 8 * 2 ** 30;

/** In memory if there is room: syncing and removing thousands of files takes a tenth of a run. */
function temporaryFolder(): string {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === MEMORY);
  const isExecutable = mount !== undefined && !mount.includes('noexec');
  return isExecutable && bavail * bsize >= ROOM ? MEMORY : tmpdir();
}

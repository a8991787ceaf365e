import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from '@jest/globals';

/**
 * Returns a function that makes an empty folder, which is removed after the test, or with `keep`
 * after all tests.
 */
export function temporaryFolders({ keep = false } = {}): () => string {
  const made: string[] = [];
  (keep ? afterAll : afterEach)(() => {
    for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
    made.push(folder);
    return folder;
  };
}

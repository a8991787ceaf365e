import { existsSync } from 'node:fs';
import { resolve, sep } from 'node:path';

/** Options whose value is no pattern of paths. */
const NAMED = ['-t', '--testNamePattern'];

/**
 * For Jest a path is a pattern: `test/limits` would match `packages/openapi/test/limits.test.ts` too.
 * An argument that is a file or a folder means that one alone; others stay patterns.
 */
function filter(files) {
  const args = process.argv.slice(2);
  const patterns = args.filter((one, i) => !one.startsWith('-') && !NAMED.includes(args[i - 1]));
  const selects = patterns.map((pattern) => {
    const path = resolve(pattern);
    return existsSync(path)
      ? (file) => file === path || file.startsWith(`${path}${sep}`)
      : (file) => new RegExp(pattern, 'i').test(file);
  });
  return {
    filtered:
      selects.length === 0 ? files : files.filter((file) => selects.some((select) => select(file))),
  };
}

/** Jest loads it with `require`. */
export { filter as 'module.exports' };

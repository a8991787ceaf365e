import { existsSync } from 'node:fs';
import { resolve, sep } from 'node:path';

/**
 * For Jest a path is a pattern: `test/limits` would match `packages/openapi/test/limits.test.ts` too.
 * An argument that is a file or a folder means that one alone.
 */
function filter(files) {
  const paths = process.argv
    .slice(2)
    .filter((argument) => existsSync(argument))
    .map((path) => resolve(path));
  const isIn = (file, path) => file === path || file.startsWith(`${path}${sep}`);
  return {
    filtered:
      paths.length === 0 ? files : files.filter((file) => paths.some((path) => isIn(file, path))),
  };
}

/** Jest loads it with `require`. */
export { filter as 'module.exports' };

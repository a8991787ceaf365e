import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const IMPORTED = /(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from/g;
const OF_CALL = /import\('[^']+'\)\.(\w+)/g;

/** All names that a file of the repository imports from another one. */
export function importedNames(): ReadonlySet<string> {
  const files = globSync('{src,packages,test,bench,scripts}/**/*.ts', {
    cwd: ROOT,
    exclude: ['**/node_modules/**'],
  });
  return new Set(files.flatMap((file) => namesIn(readFileSync(resolve(ROOT, file), 'utf8'))));
}

function namesIn(text: string): string[] {
  const listed = [...text.matchAll(IMPORTED)].flatMap(([, names]) => names!.split(','));
  const words = listed.map(
    (one) =>
      one
        .trim()
        .replace(/^type /, '')
        .split(' as ')[0]!,
  );
  return [...words, ...[...text.matchAll(OF_CALL)].map(([, name]) => name!)];
}

export function exportedTypes(text: string): string[] {
  return [...text.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name]) => name!);
}

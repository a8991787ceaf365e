import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** One import between files, types included. Paths are below src, such as `gateway/pipeline.ts`; a package has its bare name. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

export const SOURCE = resolve(import.meta.dirname, '../../src');

/** All TypeScript files below src. */
export const FILES: readonly string[] = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);

export function textOf(file: string): string {
  return readFileSync(join(SOURCE, file), 'utf8');
}

/** Every `import … from`, `export … from`, `import '…'` and `import('…')` of a text, in a file of this name. */
export function importsIn(file: string, text: string): Import[] {
  const names = [
    ...text.matchAll(/^(?:import|export)\b(?:[^'";]*?\bfrom)?\s*'([^']+)'/gm),
    ...text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g),
  ].map(([, name]) => name!);
  return names.map((name) => ({
    from: file,
    to: name.startsWith('.') ? relative(SOURCE, resolve(SOURCE, file, '..', name)) : name,
  }));
}

/** Everything that is loaded together with a file of ours: its imports and theirs, without types and `import('…')`. */
export function importsOnLoad(file: string, loaded = new Set<string>()): ReadonlySet<string> {
  const text = textOf(file)
    .replaceAll(/^(import|export) type\b[^;]*;/gm, '')
    .replaceAll(/\bimport\(/g, 'later(');
  for (const { to } of importsIn(file, text)) {
    if (loaded.has(to)) continue;
    loaded.add(to);
    if (to.endsWith('.ts')) importsOnLoad(to, loaded);
  }
  return loaded;
}

/** The first folder of a path, or the file itself where it is in none. */
export function roomOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : path;
}

/** Circles of files that import each other, one list of files for each. */
export function circles(imports: readonly Import[]): string[][] {
  const next = new Map<string, string[]>();
  for (const { from, to } of imports) next.set(from, [...(next.get(from) ?? []), to]);
  return stronglyConnected(next).filter(
    (files) => files.length > 1 || next.get(files[0]!)?.includes(files[0]!) === true,
  );
}

/** Tarjan's algorithm. */
function stronglyConnected(next: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];

  function visit(file: string): void {
    order.set(file, order.size);
    lowest.set(file, order.get(file)!);
    stack.push(file);
    for (const other of next.get(file) ?? []) {
      if (!order.has(other)) visit(other);
      if (stack.includes(other)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(other)!));
    }
    if (lowest.get(file) === order.get(file)) groups.push(stack.splice(stack.indexOf(file)));
  }

  for (const file of next.keys()) if (!order.has(file)) visit(file);
  return groups;
}

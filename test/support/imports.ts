import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/**
 * One import, types included. Paths begin with the folder of src or the package:
 * `gateway/pipeline.ts`, `http1/server.ts`; an external package has its bare name.
 */
export interface Import {
  readonly from: string;
  readonly to: string;
}

const ROOT = resolve(import.meta.dirname, '../..');
const PACKAGES = join(ROOT, 'packages');

const packages = new Map(readdirSync(PACKAGES).map((name) => [name, join(PACKAGES, name, 'src')]));

/** The public files of packages by import name: `exports` of each package.json. */
const entryPoints = new Map(
  [...packages].flatMap(([name, folder]) => {
    const { exports } = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8'));
    const files = Object.entries<string>(typeof exports === 'string' ? { '.': exports } : exports);
    return files.map(
      ([way, file]) => [join('@storegate', name, way), nameOf(join(folder, '..', file))] as const,
    );
  }),
);

export const ENTRY_POINTS: readonly string[] = [...entryPoints.values()];

export const FILES: readonly string[] = [
  ...filesIn(join(ROOT, 'src')),
  ...[...packages].flatMap(([name, folder]) => filesIn(folder).map((file) => `${name}/${file}`)),
];

function filesIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => /\.(ts|js)$/.test(file));
}

/** An absolute path. */
export function placeOf(file: string): string {
  const folder = packages.get(folderOf(file));
  return folder === undefined
    ? join(ROOT, 'src', file)
    : join(folder, relative(folderOf(file), file));
}

function nameOf(place: string): string {
  for (const [name, folder] of packages)
    if (place.startsWith(`${folder}/`)) return join(name, relative(folder, place));
  return relative(join(ROOT, 'src'), place);
}

export function textOf(file: string): string {
  return readFileSync(placeOf(file), 'utf8');
}

export function importsIn(file: string, text: string): Import[] {
  const names = [
    ...text.matchAll(/^(?:import|export)\b(?:[^'";]*?\bfrom)?\s*'([^']+)'/gm),
    ...text.matchAll(/\b(?:import|process\.getBuiltinModule)\(\s*'([^']+)'\s*\)/g),
  ].map(([, name]) => name!);
  return names.map((name) => ({
    from: file,
    to: name.startsWith('.')
      ? nameOf(resolve(placeOf(file), '..', name))
      : (entryPoints.get(name) ?? name),
  }));
}

/**
 * Everything that is loaded together with a file: its imports and theirs, without types and
 * `import('…')`.
 */
export function importsOnLoad(file: string, loaded = new Set<string>()): ReadonlySet<string> {
  const text = textOf(file)
    .replaceAll(/^(import|export) type\b[^;]*;/gm, '')
    .replaceAll(/\bimport\(/g, 'later(');
  for (const { to } of importsIn(file, text)) {
    if (loaded.has(to)) continue;
    loaded.add(to);
    if (FILES.includes(to)) importsOnLoad(to, loaded);
  }
  return loaded;
}

export function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : path;
}

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

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import * as v8 from 'node:v8';
import { build, type Plugin } from 'esbuild';
import { compileAdminContract } from '../../src/admin/compiled-contract.ts';

/** Each starts a process or a thread. */
const ENTRIES = [
  'src/main.js',
  'src/run/workers/worker.ts',
  'src/run/contracts/reader.ts',
  'src/run/contracts/starter.ts',
  'src/state/rows/thread.ts',
  'src/records/redis/copier.ts',
];

/** Packages that are not ES modules call `require`. */
const REQUIRE = `import { createRequire as createRequireOf } from 'node:module';
const require = createRequireOf(import.meta.url);`;

/**
 * Writes the modules to `target`, which is a folder of the package's root, and removes other files
 * there. Returns the bundled files, relative to `root`.
 */
export async function bundle(root: string, target: string): Promise<readonly string[]> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ENTRIES,
    outdir: target,
    entryNames: '[name]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    write: false,
    tsconfigRaw: {},
    banner: { js: REQUIRE },
    plugins: [movedModules(root), requiredHttp],
  });
  const files = outputFiles.map(({ path, contents }) => [path, contents] as const);
  replaceFiles(
    target,
    new Map([...files, [join(target, 'admin-contract'), v8.serialize(compileAdminContract())]]),
  );
  return Object.keys(metafile.inputs);
}

/** Leaves equal files as they are, because a process may be reading them. */
function replaceFiles(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  mkdirSync(folder, { recursive: true });
  for (const [path, contents] of files)
    if (!existsSync(path) || !readFileSync(path).equals(contents))
      writeFileSync(path, contents, { mode: isProgram(contents) ? 0o755 : 0o644 });
  const paths = readdirSync(folder).map((name) => join(folder, name));
  for (const path of paths) if (!files.has(path)) rmSync(path);
}

/** The image starts it without npm, which would make it executable. */
const isProgram = (contents: Uint8Array): boolean =>
  Buffer.from(contents.subarray(0, 2)).toString() === '#!';

/**
 * Code finds files by its own place in the repository; all bundled modules are in one folder beside
 * `src`.
 */
function movedModules(root: string): Plugin {
  return {
    name: 'moved-modules',
    setup({ onLoad }) {
      onLoad({ filter: /\.(?:ts|js)$/ }, ({ path }) => {
        if (path.includes('/node_modules/')) return;
        const folder = relative(root, dirname(path));
        const contents = readFileSync(path, 'utf8')
          .replace(/resolve\(import\.meta\.dirname, '(\w+)\.ts'\)/g, (_all, name: string) =>
            entry(path, name),
          )
          .replace(/import\.meta\.dirname(?! \+)/g, `(import.meta.dirname + '/../${folder}')`);
        return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
      });
    },
  };
}

/** Importing node:http loads undici, 14 MB. */
const requiredHttp: Plugin = {
  name: 'required-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 'http', namespace: 'required' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'required' }, () => {
      return { contents: "module.exports = process.getBuiltinModule('node:http');" };
    });
  },
};

function entry(path: string, name: string): string {
  if (!ENTRIES.some((file) => basename(file) === `${name}.ts`))
    throw new Error(`${path} names ${name}.ts, which is not an entry.`);
  return `(import.meta.dirname + '/${name}.js')`;
}

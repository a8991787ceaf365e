import { readFileSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** Each starts a process or a thread. */
const ENTRIES = [
  'src/main.js',
  'src/run/workers/worker.ts',
  'src/run/contracts/reader.ts',
  'src/run/contracts/starter.ts',
];

/** Packages that are not ES modules call `require`. */
const REQUIRE = `import { createRequire as createRequireOf } from 'node:module';
const require = createRequireOf(import.meta.url);`;

/**
 * Writes the modules to `target`, which is a folder of the package's root. Returns the bundled
 * files, relative to `root`.
 */
export async function bundle(root: string, target: string): Promise<readonly string[]> {
  const { metafile } = await build({
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
    tsconfigRaw: {},
    banner: { js: REQUIRE },
    plugins: [movedModules(root), requiredHttp],
  });
  return Object.keys(metafile.inputs);
}

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
          .replace(/createRequire\(import\.meta\.url\)\(/g, 'require(')
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

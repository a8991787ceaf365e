import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Assets, BASE_STYLE, filesIn, loadAssets } from '@storegate/pages';

const here = import.meta.dirname;
const { resolve } = createRequire(import.meta.url);

export interface ConsoleAssets extends Assets {
  /** Names below `base` of the console's own modules; the entry comes first. */
  readonly modules: readonly string[];
  /** Names below `base` of the style sheets, in the order of their cascade. */
  readonly styles: readonly string[];
  /** Names below `base` of modules of packages, by the name under which the console's modules import them. */
  readonly packages: Readonly<Record<string, string>>;
}

/** Each view has what it alone needs in a sheet of its own, behind these. */
const STYLES = ['frame', 'tables', 'charts', 'dialogs', 'filters'];
const PACKAGES = { preact: 'packages/preact.js', 'preact/hooks': 'packages/preact-hooks.js' };

/** The files of the console, to be served below `prefix`. */
export function consoleAssets(prefix: string): ConsoleAssets {
  const modules = ['browser/main.ts', ...filesIn(here, 'browser', '.ts').filter((file) => file !== 'browser/main.ts')];
  const styles = [...STYLES.map((name) => `styles/${name}.css`), ...filesIn(here, 'styles/views', '.css')];
  const assets = loadAssets(prefix, [
    ...[...modules, ...styles].map((file) => [file, join(here, file)] as const),
    ...Object.entries(PACKAGES).map(([name, file]) => [file, resolve(name)] as const),
    ['packages/preact.LICENSE.txt', resolve('preact').replace(/dist[/\\][^/\\]+$/, 'LICENSE')],
  ]);
  return { ...assets, modules, styles: [BASE_STYLE, ...styles], packages: PACKAGES };
}

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Assets, BASE_STYLE, filesIn, loadAssets } from '@storegate/pages';

const here = import.meta.dirname;
const { resolve } = createRequire(import.meta.url);

export interface ReferenceAssets extends Assets {
  readonly modules: readonly string[];
  /** Below `base`, in cascade order. */
  readonly styles: readonly string[];
}

const STYLES = ['page', 'guide', 'operations', 'details', 'answers', 'schemas'];

export function referenceAssets(prefix: string): ReferenceAssets {
  const entry = 'browser/main.ts';
  const modules = [entry, ...filesIn(here, 'browser', '.ts').filter((file) => file !== entry)];
  const styles = STYLES.map((name) => `styles/${name}.css`);
  const assets = loadAssets(prefix, [
    ...[...modules, ...styles].map((file) => [file, join(here, file)] as const),
    ['swagger-ui.js', resolve('swagger-ui-dist/swagger-ui-bundle.js')],
    ['swagger-ui.LICENSE.txt', resolve('swagger-ui-dist/LICENSE')],
  ]);
  return { ...assets, modules, styles: [BASE_STYLE, ...styles] };
}

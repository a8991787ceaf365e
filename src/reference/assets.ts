import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { entityTag } from '../common/entity-tag.ts';
import { Content } from './content.ts';

const here = import.meta.dirname;
const { resolve } = createRequire(import.meta.url);

/** The files of the page, all from this package and its dependencies; the browser loads nothing from elsewhere. */
export interface Assets {
  /**
   * The path of the files, with a slash at its end. It changes with their content, so browsers can cache them for ever.
   */
  readonly base: string;
  /** Paths below `base` of the page's own modules; the entry comes first. */
  readonly modules: readonly string[];
  /** Paths below `base` of the style sheets, in the order of their cascade. */
  readonly styles: readonly string[];
  /** The served files by their whole path. */
  readonly contents: ReadonlyMap<string, Content>;
}

const STYLES = ['base', 'page', 'guide', 'operations', 'details', 'answers', 'schemas'];

/** Reads and hashes every asset once. The expensive steps, stripping types and compressing, wait for the first request. */
export function loadAssets(prefix: string): Assets {
  const modules = ['browser/main.ts', ...modulesIn('browser').filter((file) => file !== 'browser/main.ts')];
  const styles = STYLES.map((name) => `styles/${name}.css`);
  const sources = new Map<string, Buffer>([
    ...[...modules, ...styles, 'icon.svg'].map((file) => [file, readFileSync(join(here, file))] as const),
    ['swagger-ui.js', readFileSync(resolve('swagger-ui-dist/swagger-ui-bundle.js'))],
    ['swagger-ui.LICENSE.txt', readFileSync(resolve('swagger-ui-dist/LICENSE'))],
  ]);
  const tags = new Map([...sources].map(([file, source]) => [file, entityTag(source)]));
  const base = `${prefix}${fingerprint(tags)}/`;
  const contents = new Map(
    [...sources].map(([file, source]) => [base + file, contentOf(file, source, tags.get(file)!)]),
  );
  return { base, modules, styles, contents };
}

function contentOf(file: string, source: Buffer, tag: string): Content {
  if (file.endsWith('.ts')) return new Content('text/javascript', () => stripTypeScriptTypes(source.toString()), tag);
  return new Content(TYPES[file.slice(file.lastIndexOf('.'))]!, () => source, tag);
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
};

function modulesIn(folder: string): string[] {
  return readdirSync(join(here, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .sort();
}

function fingerprint(tags: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const [file, tag] of tags) hash.update(`${file}\0${tag}\0`);
  return hash.digest('base64url').slice(0, 12);
}

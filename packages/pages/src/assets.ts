import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { Content } from './content.ts';
import { entityTag } from './entity-tag.ts';

/** The files of a page. The browser loads nothing from other hosts. */
export interface Assets {
  /**
   * The path of the files, with a trailing slash. It changes with their content, so browsers can cache them forever.
   */
  readonly base: string;
  /** By full path. */
  readonly contents: ReadonlyMap<string, Content>;
}

/** The first style sheet of all pages. */
export const BASE_STYLE = 'styles/base.css';

/** Files of all pages, by their names below `base`. */
const SHARED = [BASE_STYLE, 'icon.svg'].map((name) => [name, join(import.meta.dirname, name)] as const);

/**
 * Reads and hashes every file once: the shared ones, and `files`, which maps served names to places on disk. The
 * expensive steps, stripping types and compressing, wait for the first request.
 */
export function loadAssets(prefix: string, files: Iterable<readonly [name: string, path: string]>): Assets {
  const sources = [...SHARED, ...files].map(([name, path]) => {
    const source = readFileSync(path);
    return { name, source, tag: entityTag(source) };
  });
  const base = `${prefix}${fingerprint(sources)}/`;
  const contents = new Map(sources.map(({ name, source, tag }) => [base + name, sharedContent(name, source, tag)]));
  return { base, contents };
}

/** By name and tag. Pages share files, and each file is stripped and compressed once per process. */
const shared = new Map<string, Content>();

function sharedContent(name: string, source: Buffer, tag: string): Content {
  const key = `${name} ${tag}`;
  const content = shared.get(key) ?? contentOf(name, source, tag);
  shared.set(key, content);
  return content;
}

/** The names, from `folder` on, of the files below `root`/`folder` with this ending. */
export function filesIn(root: string, folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .sort();
}

function contentOf(name: string, source: Buffer, tag: string): Content {
  if (name.endsWith('.ts')) return new Content('text/javascript', () => stripTypeScriptTypes(source.toString()), tag);
  return new Content(TYPES[name.slice(name.lastIndexOf('.'))]!, () => source, tag);
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
};

function fingerprint(sources: readonly { readonly name: string; readonly tag: string }[]): string {
  const hash = createHash('sha256');
  for (const { name, tag } of sources) hash.update(`${name}\0${tag}\0`);
  return hash.digest('base64url').slice(0, 12);
}

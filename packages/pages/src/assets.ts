import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { Content } from './content.ts';
import { entityTag } from './entity-tag.ts';

export interface Assets {
  /** With a trailing slash. The path changes with the content, so browsers can cache it forever. */
  readonly base: string;
  /** By full path. */
  readonly contents: ReadonlyMap<string, Content>;
}

export const BASE_STYLE = 'styles/base.css';

const SHARED = [BASE_STYLE, 'icon.svg'].map((name) => [name, join(import.meta.dirname, name)] as const);

/** `files` maps served names to places on disk. Stripping types and compressing wait for the first request. */
export function loadAssets(prefix: string, files: Iterable<readonly [name: string, path: string]>): Assets {
  const sources = [...SHARED, ...files].map(([name, path]) => {
    const source = readFileSync(path);
    return { name, source, tag: entityTag(source) };
  });
  const base = `${prefix}${fingerprint(sources)}/`;
  const contents = new Map(sources.map(({ name, source, tag }) => [base + name, sharedContent(name, source, tag)]));
  return { base, contents };
}

/** By name and tag, so that each shared file is stripped and compressed once per process. */
const shared = new Map<string, Content>();

function sharedContent(name: string, source: Buffer, tag: string): Content {
  const key = `${name} ${tag}`;
  const content = shared.get(key) ?? contentOf(name, source, tag);
  shared.set(key, content);
  return content;
}

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

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { Content } from './content.ts';
import { entityTag } from './entity-tag.ts';
import { type Html, html } from './html.ts';

export interface Assets {
  /** With a trailing slash. The path changes with the content, so browsers can cache it forever. */
  readonly base: string;
  /** By full path. */
  readonly contents: ReadonlyMap<string, Content>;
  /** The head of the page; `first`: scripts before the modules. */
  readonly head: (title: string, first?: Html) => Html;
}

const SHARED = ['styles/base.css', 'icon.svg'].map(
  (name) => [name, join(import.meta.dirname, name)] as const,
);
const ENTRY = 'browser/main.ts';

/**
 * The modules below `browser/` of a folder, its style sheets `styles/<name>.css` in cascade order,
 * and `others`, which maps served names to places on disk. Read once for each prefix, because every
 * reload of the configuration makes pages again. Stripping types and compressing wait for the first
 * request.
 */
export function loadAssets(
  prefix: string,
  folder: string,
  sheets: readonly string[],
  others: Iterable<readonly [name: string, path: string]> = [],
): Assets {
  const assets = loaded.get(prefix) ?? readAssets(prefix, folder, sheets, others);
  loaded.set(prefix, assets);
  return assets;
}

/** By prefix. */
const loaded = new Map<string, Assets>();

function readAssets(
  prefix: string,
  folder: string,
  sheets: readonly string[],
  others: Iterable<readonly [name: string, path: string]>,
): Assets {
  const modules = readdirSync(join(folder, 'browser'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `browser/${file.replaceAll('\\', '/')}`)
    .sort();
  const styles = sheets.map((name) => `styles/${name}.css`);
  const own = [...modules, ...styles].map((file) => [file, join(folder, file)] as const);
  const sources = [...SHARED, ...own, ...others].map(([name, path]) => {
    const source = readFileSync(path);
    return { name, source, tag: entityTag(source) };
  });
  const base = `${prefix}${fingerprint(sources)}/`;
  const contents = new Map(
    sources.map(({ name, source, tag }) => [base + name, sharedContent(name, source, tag)]),
  );
  const head = (title: string, first: Html | null = null) => html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${base}icon.svg" type="image/svg+xml">
${['styles/base.css', ...styles].map((style) => html`<link rel="stylesheet" href="${base}${style}">\n`)}${first}
<script type="module" src="${base}${ENTRY}"></script>
${modules.filter((file) => file !== ENTRY).map((file) => html`<link rel="modulepreload" href="${base}${file}">\n`)}</head>`;
  return { base, contents, head };
}

/** By name and tag, so that each shared file is stripped and compressed once per process. */
const shared = new Map<string, Content>();

function sharedContent(name: string, source: Buffer, tag: string): Content {
  const key = `${name} ${tag}`;
  const content = shared.get(key) ?? contentOf(name, source, tag);
  shared.set(key, content);
  return content;
}

function contentOf(name: string, source: Buffer, tag: string): Content {
  if (name.endsWith('.ts'))
    return new Content('text/javascript', () => stripTypeScriptTypes(source.toString()), tag);
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

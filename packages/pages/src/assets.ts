import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON, stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Content, createContent } from './content.ts';
import { entityTag } from './entity-tag.ts';
import { Html, html } from './html.ts';

export interface Assets {
  /** With a trailing slash. The path changes with the content, so browsers can cache it forever. */
  readonly base: string;
  /** By full path. */
  readonly contents: ReadonlyMap<string, Content>;
  readonly head: (title: string, icon?: Icon) => Html;
  readonly icon: Icon;
  /** Hashes of the inline scripts in the head, as a policy names them. */
  readonly scripts: readonly string[];
}

export interface Icon {
  readonly path: string;
  readonly type: string;
}

/** What the modules of a page import beside each other. */
export interface Packages {
  /** Files on disk, by the names of packages. */
  readonly files?: Readonly<Record<string, string>>;
  /** Modules on disk that import each other, by the names under which they are served. */
  readonly modules?: Readonly<Record<string, string>>;
  /** Served names of such modules, by the names under which the page's modules import them. */
  readonly imports?: Readonly<Record<string, string>>;
}

const SHARED = ['styles/base.css', 'icon.svg'].map(
  (name) => [name, join(import.meta.dirname, name)] as const,
);
const ENTRY = 'browser/main.ts';

/**
 * The modules below `browser/` of a folder, its style sheets `styles/<name>.css` in cascade order,
 * the packages that the modules import, each with the LICENSE beside its package.json. Read once
 * for each prefix, because every reload of the configuration makes pages again. Stripping types and
 * compressing wait for the first request.
 */
export function loadAssets(
  prefix: string,
  folder: string,
  sheets: readonly string[],
  packages: Packages = {},
): Assets {
  const assets =
    loaded.get(prefix) ?? readAssets(prefix, folder, sheets, packages);
  loaded.set(prefix, assets);
  return assets;
}

/** By prefix. */
const loaded = new Map<string, Assets>();

function readAssets(
  prefix: string,
  folder: string,
  sheets: readonly string[],
  { files = {}, modules: shared = {}, imports = {} }: Packages,
): Assets {
  const modules = readdirSync(join(folder, 'browser'), {
    recursive: true,
    encoding: 'utf8',
  })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `browser/${file.replaceAll('\\', '/')}`)
    .sort();
  const styles = sheets.map((name) => `styles/${name}.css`);
  const own = [...modules, ...styles].map(
    (file) => [file, join(folder, file)] as const,
  );
  const foreign = [
    ...Object.entries(files).map(
      ([name, path]) => [servedName(name), path] as const,
    ),
    ...Object.entries(shared),
  ];
  const licenses = Object.entries(files)
    .filter(([name]) => !name.includes('/'))
    .map(
      ([name, path]) =>
        [`packages/${name}.LICENSE.txt`, licenseOf(path)] as const,
    );
  const sources = [...SHARED, ...own, ...foreign, ...licenses].map(
    ([name, path]) => {
      const source = readFileSync(path);
      return { name, source, tag: entityTag(source) };
    },
  );
  const base = `${prefix}${fingerprint(sources)}/`;
  const contents = new Map(
    sources.map(({ name, source, tag }) => [
      base + name,
      sharedContent(name, source, tag),
    ]),
  );
  const served = Object.keys(files).map(
    (name) => [name, servedName(name)] as const,
  );
  const { map, scripts } = importMap(
    [...served, ...Object.entries(imports)],
    base,
  );
  const preloads = [
    ...foreign.map(([name]) => name),
    ...modules.filter((file) => file !== ENTRY),
  ];
  const usual = { path: `${base}icon.svg`, type: 'image/svg+xml' };
  const head = (title: string, icon: Icon = usual) => html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${icon.path}" type="${icon.type}">
${['styles/base.css', ...styles].map((style) => html`<link rel="stylesheet" href="${base}${style}">\n`)}${map}<script type="module" src="${base}${ENTRY}"></script>
${preloads.map((file) => html`<link rel="modulepreload" href="${base}${file}">\n`)}</head>`;
  return { base, contents, head, scripts, icon: usual };
}

const servedName = (name: string): string =>
  `packages/${name.replace('/', '-')}.js`;

const licenseOf = (path: string): string =>
  join(dirname(findPackageJSON(pathToFileURL(path))!), 'LICENSE');

/** Browsers take import maps inline only (HTML, "Import maps"). */
function importMap(
  served: readonly (readonly [name: string, served: string])[],
  base: string,
) {
  if (served.length === 0) return { map: null, scripts: [] };
  const imports = Object.fromEntries(
    served.map(([name, file]) => [name, base + file]),
  );
  // Inside a script nothing is escaped, and a map of our own paths has nothing to escape.
  const text = JSON.stringify({ imports });
  const hash = createHash('sha256').update(text).digest('base64');
  return {
    map: new Html(`<script type="importmap">${text}</script>\n`),
    scripts: [`sha256-${hash}`],
  };
}

/** By name and tag, so that each file is stripped and compressed once per process. */
const contentsByTag = new Map<string, Content>();

function sharedContent(name: string, source: Buffer, tag: string): Content {
  const key = `${name} ${tag}`;
  const content = contentsByTag.get(key) ?? contentOf(name, source, tag);
  contentsByTag.set(key, content);
  return content;
}

function contentOf(name: string, source: Buffer, tag: string): Content {
  if (name.endsWith('.ts'))
    return createContent(
      'text/javascript',
      () => stripTypeScriptTypes(source.toString()),
      tag,
    );
  return createContent(
    TYPES[name.slice(name.lastIndexOf('.'))]!,
    () => source,
    tag,
  );
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
};

function fingerprint(
  sources: readonly { readonly name: string; readonly tag: string }[],
): string {
  const hash = createHash('sha256');
  for (const { name, tag } of sources) hash.update(`${name}\0${tag}\0`);
  return hash.digest('base64url').slice(0, 12);
}

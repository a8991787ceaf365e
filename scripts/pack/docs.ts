import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LINK = /(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)/g;
const COMMENT = /<!-- [^\n]*? -->/g;
const PICTURE = /<picture>[\s\S]*?<\/picture>\n*|^ *<img [^>]*>\n*/gm;

/**
 * Copies the pages for operators into the package. Comments, pictures and links to files that
 * stay in the repository are left out, so no link of the package is dead. Call it after all other files.
 */
export function copyDocs(root: string, target: string): void {
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  const files = [
    'README.md',
    'CHANGELOG.md',
    'SECURITY.md',
    ...pages.map((name) => `docs/${name}`),
  ];
  mkdirSync(join(target, 'docs'), { recursive: true });
  for (const file of files) cpSync(join(root, file), join(target, file));
  for (const file of files) {
    const text = readFileSync(join(target, file), 'utf8');
    const leads = (path: string) => existsSync(join(target, dirname(file), path));
    const kept = text
      .replace(PICTURE, '')
      .replace(COMMENT, '')
      .replace(LINK, (link, mark: string, words: string, path: string) =>
        leads(path) ? link : mark === '' ? words : '',
      );
    writeFileSync(join(target, file), kept);
  }
}

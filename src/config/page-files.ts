import { resolve } from 'node:path';
import { shortDigest } from '../common/digest.ts';
import { nameOfFile, type Problem, problemOf } from './problems/problems.ts';
import type { Settings } from './settings.ts';
import { decodeText, readFile, UnreadableFile } from './yaml/text-file.ts';

/** An image of the reference. */
interface Logo {
  readonly type: 'image/svg+xml' | 'image/png';
  /** In Base64. */
  readonly content: string;
}

export interface PageFiles {
  readonly logo: Logo | null;
  readonly introduction: string | null;
}

const LOGO = 'reference.logo';
const INTRODUCTION = 'reference.introduction';

/** Bytes. */
const LARGEST = 256 * 1024;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

interface OfApi {
  /** Of its settings, in messages. */
  readonly prefix: string;
  /** What is not its own. */
  readonly inherited: PageFiles;
  readonly isOwn: (setting: string) => boolean;
}

/** Invalid settings name no files. The returned paths are absolute. */
export function readPageFiles(written: Settings, cwd: string, api?: OfApi) {
  const settings = new Map(written);
  const problems: Problem[] = [];
  const paths: string[] = [];

  function read<Name extends keyof PageFiles>(
    setting: string,
    name: Name,
    parse: (bytes: Buffer) => PageFiles[Name],
  ): PageFiles[Name] {
    if (api && !api.isOwn(setting)) return api.inherited[name];
    const { value, ...rest } = written.get(setting)!;
    if (typeof value !== 'string') return null!;
    const path = resolve(cwd, value);
    paths.push(path);
    try {
      const bytes = readFile(path, LARGEST);
      // A changed file is a changed setting.
      const digest = shortDigest(bytes);
      settings.set(setting, { ...rest, value: { file: value, digest } });
      return parse(bytes);
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw error;
      const name = nameOfFile(path, cwd);
      problems.push(
        problemOf(
          name,
          `${error.message}; correct ${api?.prefix ?? ''}${setting}`,
        ),
      );
      return null!;
    }
  }

  const contents: PageFiles = {
    logo: read(LOGO, 'logo', logoOf),
    introduction: read(INTRODUCTION, 'introduction', decodeText),
  };
  return { contents, paths, problems, settings: settings as Settings };
}

/** @throws {UnreadableFile} */
function logoOf(bytes: Buffer): Logo {
  const content = bytes.toString('base64');
  if (bytes.subarray(0, PNG.length).equals(PNG))
    return { type: 'image/png', content };
  if (!/^\s*(?:<[?!][^>]*>\s*)*<svg[\s>]/.test(bytes.toString('utf8')))
    throw new UnreadableFile('must be an SVG or PNG image');
  return { type: 'image/svg+xml', content };
}

import { resolve } from 'node:path';
import type { AddressList } from '../common/address-lists.ts';
import { shortDigest } from '../common/digest.ts';
import { parseCidr } from '../common/ip.ts';
import { nameOfFile, type Problem, problemOf } from './problems/problems.ts';
import { quote } from './problems/quote.ts';
import type { Settings } from './settings.ts';
import { readTextFile, UnreadableFile } from './yaml/text-file.ts';

export type AddressEntry = string | { readonly file: string };

/** Bytes: half a million addresses. */
const MAX_FILE_SIZE = 8 * 1024 * 1024;
const MAX_REPORTED = 20;
const EXPECTED =
  'must be an address, or a block such as 10.0.0.0/8 that begins with its first address';

/** Reads each file once, for the gateway and its APIs. */
export function createListReader(cwd: string) {
  const read = new Map<string, ListFile>();
  const problems: Problem[] = [];

  function fileOf(named: string, setting: string): ListFile {
    const path = resolve(cwd, named);
    let file = read.get(path);
    if (file === undefined) {
      file = readList(path, nameOfFile(path, cwd), setting);
      read.set(path, file);
      problems.push(...file.problems);
    }
    if (
      setting.endsWith('allow') &&
      file.entries.length === 0 &&
      file.problems.length === 0
    ) {
      problems.push(
        problemOf(file.name, 'has no address: every client would be refused'),
      );
    }
    return file;
  }

  /** With the contents of each file, so that a changed file is a changed setting. */
  function withEntries(entries: unknown, setting: string): unknown {
    if (!Array.isArray(entries)) return entries;
    return entries.map((entry: AddressEntry) => {
      if (typeof entry === 'string') return entry;
      const { entries, digest } = fileOf(entry.file, setting);
      return { file: entry.file, entries: entries.length, digest };
    });
  }

  /** `prefix`: of the settings of an API, in messages. Invalid settings name no files. */
  function readIn(written: Settings, prefix = ''): Settings {
    return new Map(
      [...written].map(([name, setting]) => [
        name,
        LISTS.includes(name)
          ? { ...setting, value: withEntries(setting.value, prefix + name) }
          : setting,
      ]),
    );
  }

  function listsIn(entries: readonly AddressEntry[]): AddressList[] {
    const own = entries.filter((entry) => typeof entry === 'string');
    const files = entries
      .filter((entry) => typeof entry !== 'string')
      .map(({ file }) => read.get(resolve(cwd, file))!);
    const lists = files.map(
      ({ name, entries }): AddressList => ({ file: name, entries }),
    );
    return own.length === 0 ? lists : [{ file: null, entries: own }, ...lists];
  }

  return {
    readIn,
    listsIn,
    problems,
    /** Absolute. */
    get paths() {
      return [...read.keys()];
    },
    /** Files that are not named any more are read again when they are. */
    forgetOthers() {
      for (const [path, file] of lastRead)
        if (read.get(path) !== file) lastRead.delete(path);
    },
  };
}

const LISTS = ['addresses.allow', 'addresses.deny'];

interface ListFile {
  readonly name: string;
  readonly text: string;
  readonly digest: string;
  readonly entries: readonly string[];
  readonly problems: readonly Problem[];
}

/** An unchanged file is not parsed again, which would delay requests. */
const lastRead = new Map<string, ListFile>();

function readList(path: string, name: string, setting: string): ListFile {
  try {
    const text = readTextFile(path, MAX_FILE_SIZE);
    const cached = lastRead.get(path);
    if (cached?.text === text && cached.name === name) return cached;
    const file = {
      name,
      text,
      digest: shortDigest(text),
      ...entriesIn(text, name),
    };
    lastRead.set(path, file);
    return file;
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    const problem = problemOf(name, `${error.message}; correct ${setting}`);
    return { name, text: '', digest: '', entries: [], problems: [problem] };
  }
}

/** `#` and `;` begin a comment. */
function entriesIn(
  text: string,
  name: string,
): Pick<ListFile, 'entries' | 'problems'> {
  const entries: string[] = [];
  const problems: Problem[] = [];
  let wrong = 0;
  for (const [i, line] of text.split('\n').entries()) {
    const entry = line.replace(/[#;].*/s, '').trim();
    if (entry === '') continue;
    if (parseCidr(entry) !== null) entries.push(entry);
    else if (++wrong <= MAX_REPORTED)
      problems.push(problemOf(name, `${EXPECTED}, is ${quote(entry)}`, i + 1));
  }
  if (wrong > MAX_REPORTED)
    problems.push(
      problemOf(name, `has ${wrong - MAX_REPORTED} more such lines`),
    );
  return { entries: Object.freeze(entries), problems };
}

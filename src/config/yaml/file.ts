import { parseWithin } from '@storegate/openapi/limits';
import {
  type Document,
  type ErrorCode,
  LineCounter,
  type YAMLError,
} from 'yaml';
import { dotted, parent } from '../problems/pointers.ts';
import {
  nameOfFile,
  type Position,
  type Problem,
  problemOf,
} from '../problems/problems.ts';
import type { SchemaError } from '../schema/errors.ts';
import { checkSize, readTextFile, UnreadableFile } from './text-file.ts';
import { mostTokens, type Spot, tooManyValues, treeOf } from './tree.ts';

export interface YamlFile {
  /** In problems. */
  readonly name: string;
  /** If the file could not be read or parsed at all. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** For a missing place, the nearest place around it. */
  locate(pointer: string, at: 'key' | 'value'): Position | null;
}

const EMPTY = 'must be a map, is empty; write {} if it is to set nothing';

/**
 * As last read, by name: parsing is most of a reload's blocking work, and usually one file of
 * several has changed.
 */
const lastRead = new Map<
  string,
  { readonly text: string; readonly file: YamlFile }
>();

/**
 * At most 1 MiB. Never throws; mistakes are in `problems`. `namedBy`: the setting or variable with
 * the path.
 */
export function readYamlFile(
  file: string,
  cwd: string,
  namedBy: string | null = null,
): YamlFile {
  const name = nameOfFile(file, cwd);
  const todo = namedBy === null ? '' : `; correct ${namedBy}`;
  return ifReadable(name, todo, () => {
    const text = readTextFile(file);
    const last = lastRead.get(name);
    if (last?.text === text) return last.file;
    const read = parse(text, name);
    lastRead.set(name, { text, file: read });
    return read;
  });
}

/** Like `readYamlFile`, of a text that is not in the file yet. */
export function parseYaml(text: string, name: string): YamlFile {
  return ifReadable(name, '', () => {
    checkSize(Buffer.byteLength(text));
    return parse(text, name);
  });
}

function ifReadable(
  name: string,
  todo: string,
  read: () => YamlFile,
): YamlFile {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return unusable(name, [problemOf(name, `${error.message}${todo}`)]);
  }
}

function parse(text: string, name: string): YamlFile {
  const lines = new LineCounter();
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const problem = (flaw: {
    offset: number;
    pointer: string;
    message: string;
  }): Problem => ({
    source: name,
    place: { position: positionOf(flaw.offset), path: dotted(flaw.pointer) },
    message: flaw.message,
  });
  // The tree reports repeated keys, because it knows their path.
  const options = {
    schema: 'core',
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
  } as const;
  const document = parseWithin(text, mostTokens, {
    ...options,
    lineCounter: lines,
  });
  if (typeof document === 'number') {
    const flaw = { offset: document, pointer: '', message: tooManyValues };
    lines.addNewLine(0);
    for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
    return unusable(name, [problem(flaw)]);
  }
  const syntax = syntaxErrors(document);
  if (syntax.length > 0) return unusable(name, syntax.map(problem));

  const { value, spots, flaws } = treeOf(
    document,
    (offset) => positionOf(offset).line,
  );
  // A file that an editor or a full disk has emptied must not apply the defaults.
  if (value === null)
    return unusable(name, [
      problem({ offset: 0, pointer: '', message: EMPTY }),
    ]);
  const locate: YamlFile['locate'] = (pointer, at) =>
    positionOf(nearest(spots, pointer, at));
  return { name, value, problems: flaws.map(problem), locate };
}

export function problemIn(
  file: YamlFile,
  { pointer, at, message }: SchemaError,
): Problem {
  return {
    source: file.name,
    place: { position: file.locate(pointer, at), path: dotted(pointer) },
    message,
  };
}

function unusable(name: string, problems: readonly Problem[]): YamlFile {
  return { name, value: undefined, problems, locate: () => null };
}

function nearest(
  spots: ReadonlyMap<string, Spot>,
  pointer: string,
  at: 'key' | 'value',
): number {
  for (let here: string | null = pointer; here !== null; here = parent(here)) {
    const spot = spots.get(here);
    if (spot !== undefined) return here === pointer ? spot[at] : spot.key;
  }
  return 0;
}

/** The parser's texts are about its internals. */
const sentences: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'must be indented with spaces, not with a tab',
  MULTIPLE_DOCS: 'must be one YAML document; a second one starts here',
  BAD_DQ_ESCAPE:
    'has an unknown escape in a double-quoted text; use single quotes to take it as it is',
  TAG_RESOLVE_FAILED: 'has a tag (!); write the plain value',
  BAD_DIRECTIVE: 'has a directive (%) that YAML 1.2 does not know',
  RESOURCE_EXHAUSTION: 'is nested too deep',
};

/**
 * Only the first place, because the parser guesses at the rest. Its warnings about unknown tags are
 * mistakes here.
 */
function syntaxErrors(document: Document.Parsed) {
  const found: YAMLError[] = [...document.errors, ...document.warnings];
  const first = found.sort((a, b) => a.pos[0] - b.pos[0])[0];
  return first === undefined
    ? []
    : [
        {
          offset: first.pos[0],
          pointer: '',
          message: sentences[first.code] ?? plain(first.message),
        },
      ];
}

/** Without the source text, which could be secret. */
function plain(message: string): string {
  const text = message.replace(/: .*$/s, '');
  return `is not valid YAML here: ${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

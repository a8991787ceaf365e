import { resolve } from 'node:path';
import { demand } from './arguments.ts';
import {
  type Compiled,
  digestsOf,
  fingerprintOf,
  namesIn,
} from './compiled.ts';
import type { FieldFlaw } from './document/bundle.ts';
import { type Document, loadDocument } from './document/document.ts';
import { isObject, type Json, type SourceFile } from './document/source.ts';
import { cycleIn, toJson } from './exact-json.ts';
import { byPlace, type Findings } from './findings.ts';
import {
  createOperations,
  type Description,
  methodsIn,
  type Operations,
} from './operations.ts';
import {
  checkOptions,
  type ReadingOptions,
  readingOptionsOf,
} from './options.ts';
import { ContractError, type Problem } from './problems.ts';
import { createContract } from './runtime.ts';
import { createSchemas } from './schema/schemas.ts';
import { noteUnmatchable } from './schema/unmatchable.ts';
import { serverPaths } from './servers.ts';
import { atOnce } from './slices.ts';
import { outlineOf, parseTemplate } from './template.ts';
import { triage } from './triage.ts';
import type { ReadContract } from './types.ts';

/** Results are plain data, because other processes get a copy. */
export interface ExtensionReader<Fields, Shared> {
  /**
   * Of an `x-` field; `kind` is that of its object, such as `operation`. `null` if there is nothing
   * to report.
   */
  judgeField(field: string, kind: string): FieldFlaw | null;
  /** Called when all operations are known. */
  read(
    document: Document,
    operations: readonly (readonly [Description, Json])[],
    findings: Findings,
  ): ReadExtensions<Fields, Shared>;
}

interface ReadExtensions<Fields, Shared> {
  fieldsOf(operation: Description, node: Json): Fields;
  /** Operations with mistakes may be missing. */
  sharedBy(operations: readonly (Description & Fields)[]): Shared;
}

const NO_EXTENSIONS: ExtensionReader<unknown, unknown> = {
  judgeField: () => null,
  read: () => ({ fieldsOf: () => ({}), sharedBy: () => ({}) }),
};

export interface ContractOptions<Fields = unknown, Shared = unknown>
  extends ReadingOptions {
  /** Of the file, which is then not read. */
  readonly text?: string | undefined;
  readonly extensions?: ExtensionReader<Fields, Shared>;
}

/**
 * `document` is a file, or an object: its references to files are relative to the working
 * directory, and lines are those of its JSON, indented by two spaces.
 *
 * Takes seconds for a large document, so a process that serves requests calls `checkContract` in
 * another process.
 *
 * @throws ContractError with every mistake.
 * @throws TypeError for an option that does not exist.
 */
export function loadContract<Fields = unknown, Shared = unknown>(
  document: string | object,
  options: ContractOptions<Fields, Shared> = {},
): ReadContract<Fields, Shared> {
  const { compiled, notes } = checkContract(document, options);
  return Object.assign(atOnce(createContract(compiled)), { notes });
}

export function checkContract<Fields = unknown, Shared = unknown>(
  from: string | object,
  options: ContractOptions<Fields, Shared> = {},
): {
  readonly compiled: Compiled<Fields, Shared>;
  readonly notes: readonly Problem[];
} {
  checkOptions(options);
  const extensions =
    options.extensions ?? (NO_EXTENSIONS as ExtensionReader<Fields, Shared>);
  const source = sourceOf(from, options.text);
  const { document, texts } = loadDocument(
    source,
    readingOptionsOf(options),
    extensions.judgeField,
  );
  const { root, findings } = document;
  const schemas = createSchemas(document);
  const operations = createOperations(schemas);
  const info = readInfo(document);
  const prefixes = serverPaths(document);
  const canMatch = readPaths(document, operations);
  schemas.finish();
  noteUnmatchable(document);
  const finished = operations.finish(prefixes[0]!);
  const { fieldsOf, sharedBy } = extensions.read(document, finished, findings);
  const extended = finished.map(
    ([operation, node]) =>
      [{ ...operation, ...fieldsOf(operation, node) }, node] as const,
  );
  const {
    refused,
    tolerated,
    exempted,
    operations: described,
  } = triage(document, extended, canMatch);
  const notes = [...findings.notes, ...tolerated].sort(byPlace);
  if (refused.length > 0) throw new ContractError(refused, notes);

  const compiled = {
    ...info,
    operations: described,
    shared: sharedBy(described),
    exempted,
    prefixes,
    document,
    definitions: schemas.definitions,
    files: fingerprintsOf(
      texts,
      source.text === undefined ? null : resolve(source.file),
    ),
    fingerprint: fingerprintOf(toJson(root)),
    digests: digestsOf(described, document),
    ...namesIn(document),
  };
  return { compiled, notes };
}

/** In problems, the name of a document that is an object. */
const OBJECT = 'document';

function sourceOf(from: string | object, text: string | undefined): SourceFile {
  if (typeof from === 'string') return { file: from, text };
  demand(
    isObject(from),
    'the document must be the name of a file, or an object',
  );
  demand(
    text === undefined,
    'the option text is for the name of a file, not for an object',
  );
  const cycle = cycleIn(from);
  if (cycle !== null) {
    const message = `contains itself: the value of ${cycle} is one of the objects around it. Give the document with its $refs, as it was before a program replaced them`;
    throw new ContractError([{ file: OBJECT, place: '', message }]);
  }
  return { file: OBJECT, text: toJson(from, 2) };
}

/** Without the file whose text was given. */
const fingerprintsOf = (
  texts: ReadonlyMap<string, string>,
  given: string | null,
) =>
  new Map(
    [...texts]
      .filter(([path]) => path !== given)
      .map(([path, text]) => [path, fingerprintOf(text)]),
  );

/**
 * OpenAPI 3.0.3 forbids two spellings of one path, but real documents use them with different
 * methods. Returns whether requests can match an operation.
 */
function readPaths(document: Document, operations: Operations) {
  const { root, findings } = document;
  /** By outline and method. */
  const spellings = new Map<string, Map<string, string>>();
  if (root.paths === undefined)
    findings.problem(root, null, document.dialect.withoutPaths);
  for (const [path, value] of document.members(root.paths)) {
    const item = document.object(value);
    if (!item || path.startsWith('x-')) continue;
    operations.read(path, item);
    const segments = parseTemplate(path);
    if (typeof segments === 'string') {
      findings.problem(
        root.paths as Json,
        path,
        `the path ${path} ${segments}`,
      );
      continue;
    }
    const outline = outlineOf(segments);
    const existing = spellings.get(outline) ?? new Map<string, string>();
    spellings.set(outline, existing);
    const [first] = existing.values();
    const taken = methodsIn(item).filter((method) => existing.has(method));
    for (const method of taken)
      findings.problem(
        item,
        method,
        `cannot be distinguished from ${existing.get(method)}`,
      );
    for (const method of methodsIn(item))
      if (!taken.includes(method)) existing.set(method, path);
    if (first !== undefined && taken.length === 0)
      findings.note(
        root.paths as Json,
        path,
        `is one path with ${first}, which has other methods`,
      );
  }
  return ({ path, method }: Pick<Description, 'path' | 'method'>) =>
    spellings.values().some((one) => one.get(method.toLowerCase()) === path);
}

function readInfo({ root, findings }: Document): {
  title: string;
  version: string;
} {
  const info = isObject(root.info) ? root.info : null;
  if (root.info === undefined)
    findings.problem(root, null, 'an OpenAPI document needs info');
  for (const key of ['title', 'version']) {
    if (info && info[key] === undefined)
      findings.problem(info, null, `info needs a ${key}`);
  }
  return { title: String(info?.title), version: String(info?.version) };
}

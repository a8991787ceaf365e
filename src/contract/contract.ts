import { stringify } from 'yaml';
import { type Document, loadDocument } from './document/document.ts';
import { Places } from './document/places.ts';
import { isObject, type Json, objectsIn } from './document/source.ts';
import { byPlace, Findings } from './findings.ts';
import { judge } from './judgement.ts';
import { methodsIn, Operations } from './operations.ts';
import { ContractError } from './problems.ts';
import { Router } from './router.ts';
import { Schemas } from './schema/schemas.ts';
import { namesIn, outlineOf, parseTemplate, type Segment, TemplateError } from './template.ts';
import type { Contract, Operation, Reading } from './types.ts';

export type { MediaRule } from './media/rules.ts';
export { ContractError, formatProblem, formatProblems, type Problem } from './problems.ts';
export {
  type BodyRule,
  type Contract,
  isSameReading,
  type Match,
  type Operation,
  type Reading,
  type UnknownQuery,
} from './types.ts';

/** A path that requests can match, with its spellings in the document: `/a/{x}` and `/a/{y}` are one path. */
interface Path {
  readonly spellings: string[];
  readonly segments: readonly Segment[];
}

export interface ContractOptions extends Reading {
  /** The text of the file, if it is known; the file is then not read. */
  readonly text?: string | undefined;
}

/**
 * Reads an OpenAPI 3.0 document (YAML or JSON) and the files it refers to, checks all of it and compiles it.
 *
 * @throws ContractError with every mistake.
 */
export function loadContract(file: string, options: ContractOptions = {}): Contract {
  const places = new Places();
  const findings = new Findings(places);
  const document = loadDocument({ file, text: options.text }, places, findings);
  const schemas = new Schemas(document, findings);
  const operations = new Operations(document, schemas, findings, options.unknownQuery ?? 'refuse');
  const { title, version } = readInfo(document, findings);
  noteServers(document, findings);
  const paths = readPaths(document, findings, operations);
  operations.link();
  schemas.finish();
  const judged = judge(document, findings, operations.described, { answers: options.responses !== 'off' });
  const notes = [...findings.notes, ...judged.unused].sort(byPlace);
  const problems = [...new Set([...judged.document, ...[...judged.operations.values()].flat()])].sort(byPlace);
  if (problems.length > 0) throw new ContractError(problems, notes);

  const all = operations.finish().map(([operation]) => Object.freeze(operation));
  const router = routerOf(paths, all);
  return Object.freeze({
    title,
    version,
    operations: Object.freeze(all),
    files: document.texts,
    document: document.root,
    json: JSON.stringify(document.root, exactly, 2),
    yaml: stringify(document.root, { aliasDuplicateObjects: false, lineWidth: 0 }),
    notes,
    match: (method: string, path: string) => router.match(method, path),
  });
}

function routerOf(paths: readonly Path[], operations: readonly Operation[]): Router<Operation> {
  const byPath = Map.groupBy(operations, ({ path }) => path);
  const router = new Router<Operation>();
  for (const { spellings, segments } of paths) {
    const own = spellings.flatMap((path) => byPath.get(path) ?? []);
    if (own.length > 0) router.add(segments, new Map(own.map((operation) => [operation.method, operation])));
  }
  return router;
}

/** JSON.stringify cannot write a bigint by itself. */
const exactly = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;

function readInfo({ root }: Document, findings: Findings): { title: string; version: string } {
  const info = isObject(root.info) ? root.info : null;
  if (root.info === undefined) findings.problem(root, null, 'an OpenAPI document needs info');
  for (const key of ['title', 'version']) {
    if (info && info[key] === undefined) findings.problem(info, null, `info needs a ${key}`);
  }
  return { title: String(info?.title), version: String(info?.version) };
}

/** `match` takes paths as the document writes them: its caller knows where the service is mounted. */
function noteServers({ root }: Document, findings: Findings): void {
  for (const server of objectsIn(root.servers)) {
    const base = String(server.url).replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*/, '');
    if (base !== '' && base !== '/')
      findings.note(server, 'url', `the path ${base} of a server is not a part of the paths here`);
  }
}

function readPaths(document: Document, findings: Findings, operations: Operations): Path[] {
  const { root } = document;
  if (root.paths === undefined) findings.problem(root, null, 'an OpenAPI document needs paths');
  const byOutline = new Map<string, Path>();
  for (const [path, value] of document.members(root.paths)) {
    const item = document.object(value);
    if (!item || path.startsWith('x-')) continue;
    const segments = readTemplate(root.paths as object, path, findings);
    operations.read(path, item, namesIn(path));
    if (!segments) continue;
    const known = byOutline.get(outlineOf(segments));
    if (known === undefined) byOutline.set(outlineOf(segments), { spellings: [path], segments });
    else addSpelling(document, known, path, findings);
  }
  return [...byOutline.values()];
}

/**
 * OpenAPI 3.0.3 forbids two spellings of one path, but documents in use give each methods of its own. The values of templates
 * are told apart by their order, so every operation keeps its own names for them.
 */
function addSpelling(document: Document, { spellings }: Path, path: string, findings: Findings): void {
  const paths = document.root.paths as Json;
  const methodsOf = (one: string) => new Set(methodsIn(document.object(paths[one]) ?? {}));
  const methods = methodsOf(path);
  const rival = spellings.find((other) => !methods.isDisjointFrom(methodsOf(other)));
  if (rival === undefined) findings.note(paths, path, `is one path with ${spellings[0]}, which has other methods`);
  else findings.problem(paths, path, `cannot be told from ${rival}`);
  spellings.push(path);
}

function readTemplate(paths: object, path: string, findings: Findings): readonly Segment[] | null {
  try {
    return parseTemplate(path);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    findings.problem(paths, path, `the path ${path} ${error.message}`);
    return null;
  }
}

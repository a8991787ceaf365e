import { stringify } from 'yaml';
import { type Document, loadDocument } from './document/document.ts';
import { Places } from './document/places.ts';
import { isObject, objectsIn } from './document/source.ts';
import { Findings } from './findings.ts';
import { Operations } from './operations.ts';
import { Router } from './router.ts';
import { Schemas } from './schema/schemas.ts';
import { namesIn, outlineOf, parseTemplate, type Segment, TemplateError } from './template.ts';
import type { Contract, Operation, UnknownQuery } from './types.ts';

export type { MediaRule } from './media/rules.ts';
export { ContractError, formatProblem, type Problem } from './problems.ts';
export type { BodyRule, Contract, Match, Operation, UnknownQuery } from './types.ts';

/** A path of the document that requests can match. */
interface Path {
  readonly path: string;
  readonly segments: readonly Segment[];
}

export interface ContractOptions {
  /** What to do with query parameters that an operation does not describe; the default is to refuse them. */
  readonly unknownQuery?: UnknownQuery | undefined;
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
  const { all, byPath } = operations.finish();
  schemas.finish();
  findings.throwIfAny();

  const router = new Router<Operation>();
  for (const { path, segments } of paths) {
    const methods = byPath.get(path);
    if (methods) router.add(segments, methods);
  }
  return Object.freeze({
    title,
    version,
    operations: all,
    files: document.texts,
    document: document.root,
    json: JSON.stringify(document.root, exactly, 2),
    yaml: stringify(document.root, { aliasDuplicateObjects: false, lineWidth: 0 }),
    notes: findings.notes,
    match: (method: string, path: string) => router.match(method, path),
  });
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
  const outlines = new Map<string, string>();
  const paths: Path[] = [];
  for (const [path, value] of document.members(root.paths)) {
    const item = document.object(value);
    if (!item || path.startsWith('x-')) continue;
    const segments = readTemplate(root.paths as object, path, findings);
    const outline = segments ? outlineOf(segments) : path;
    const other = outlines.get(outline);
    if (other !== undefined) findings.problem(root.paths as object, path, `cannot be told from ${other}`);
    outlines.set(outline, path);
    operations.read(path, item, namesIn(path));
    if (segments) paths.push({ path, segments });
  }
  return paths;
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

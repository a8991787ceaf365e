import { resolve } from 'node:path';
import { assess } from './assessment.ts';
import { type Compiled, fingerprintOf, namesOf } from './compiled.ts';
import { digestsOf } from './digests.ts';
import { type Document, loadDocument } from './document/document.ts';
import { Places } from './document/places.ts';
import { isObject } from './document/source.ts';
import { toJson } from './exact-json.ts';
import { type ExtensionReader, NO_EXTENSIONS } from './extension-reader.ts';
import { byPlace, Findings } from './findings.ts';
import { Operations } from './operations.ts';
import { type ReadingOptions, readingOptionsOf } from './options.ts';
import { Paths } from './paths.ts';
import { ContractError, type Problem } from './problems.ts';
import { createContract } from './runtime.ts';
import { Schemas } from './schema/schemas.ts';
import { serverPaths } from './servers.ts';
import type { ReadContract } from './types.ts';
import { treat } from './unsupported.ts';

export interface ContractOptions<Fields = unknown, Shared = unknown> extends ReadingOptions {
  readonly text?: string | undefined;
  readonly extensions?: ExtensionReader<Fields, Shared>;
}

/**
 * Takes seconds for a large document, so a process that serves requests calls `checkContract` in another process.
 *
 * @throws ContractError with every mistake.
 */
export function loadContract<Fields = unknown, Shared = unknown>(
  file: string,
  options: ContractOptions<Fields, Shared> = {},
): ReadContract<Fields, Shared> {
  const { compiled, notes } = checkContract(file, options);
  return Object.assign(createContract(compiled), { notes });
}

export function checkContract<Fields = unknown, Shared = unknown>(
  file: string,
  options: ContractOptions<Fields, Shared> = {},
): { readonly compiled: Compiled<Fields, Shared>; readonly notes: readonly Problem[] } {
  const extensions = options.extensions ?? (NO_EXTENSIONS as ExtensionReader<Fields, Shared>);
  const places = new Places();
  const findings = new Findings(places);
  const document = loadDocument(
    { file, text: options.text },
    places,
    findings,
    readingOptionsOf(options),
    extensions.misspelling,
  );
  const schemas = new Schemas(document, findings);
  const operations = new Operations(document, schemas, findings);
  const { title, version } = readInfo(document, findings);
  const prefixes = serverPaths(document, findings, options.serverPath);
  const paths = new Paths(document, findings);
  paths.read(operations);
  operations.link();
  schemas.finish();
  const finished = operations.finish(prefixes[0]!);
  const { fieldsOf, sharedBy } = extensions.read(document, finished, findings);
  const extended = finished.map(([operation, node]) => [{ ...operation, ...fieldsOf(operation, node) }, node] as const);
  const judged = assess(document, findings, operations.described, { answers: options.responses !== 'off' });
  const treated = treat(extended, judged, options.onUnsupported ?? 'refuse', (operation) => paths.canMatch(operation));
  const notes = [...findings.notes, ...judged.unused, ...treated.tolerated].sort(byPlace);
  if (treated.refused.length > 0) throw new ContractError(treated.refused, notes);

  const { root, texts } = document;
  const compiled = {
    title,
    version,
    operations: treated.operations,
    shared: sharedBy(treated.operations),
    exempted: treated.exempted,
    prefixes,
    document,
    definitions: schemas.definitions,
    files: fingerprintsOf(texts, options.text === undefined ? null : resolve(file)),
    fingerprint: fingerprintOf(toJson(root)),
    digests: digestsOf(treated.operations, document),
    names: namesOf(root),
  };
  return { compiled, notes };
}

/** Without the file whose text was given. */
const fingerprintsOf = (texts: ReadonlyMap<string, string>, given: string | null) =>
  new Map([...texts].filter(([path]) => path !== given).map(([path, text]) => [path, fingerprintOf(text)]));

function readInfo({ root }: Document, findings: Findings): { title: string; version: string } {
  const info = isObject(root.info) ? root.info : null;
  if (root.info === undefined) findings.problem(root, null, 'an OpenAPI document needs info');
  for (const key of ['title', 'version']) {
    if (info && info[key] === undefined) findings.problem(info, null, `info needs a ${key}`);
  }
  return { title: String(info?.title), version: String(info?.version) };
}

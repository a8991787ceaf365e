import { stringify } from 'yaml';
import { type Document, loadDocument } from './document/document.ts';
import { Places } from './document/places.ts';
import { isObject } from './document/source.ts';
import { byPlace, Findings } from './findings.ts';
import { judge } from './judgement.ts';
import { treat } from './leniency.ts';
import { Operations } from './operations.ts';
import type { Reading } from './options.ts';
import { Paths } from './paths.ts';
import { ContractError } from './problems.ts';
import { NOT_FOUND } from './router.ts';
import { Schemas } from './schema/schemas.ts';
import { behind, serverPaths } from './servers.ts';
import type { Contract, Operation } from './types.ts';

export { MAX_FAULTS } from './faults.ts';
export { formatExempted } from './leniency.ts';
export type { MediaRule } from './media/rules.ts';
export { isSameReading, type Reading, type Treatment, type UnknownQuery } from './options.ts';
export { ContractError, formatProblem, formatProblems, type Problem } from './problems.ts';
export type { BodyRule, Contract, Exempted, Match, Operation } from './types.ts';

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
  const document = loadDocument({ file, text: options.text }, places, findings, options);
  const schemas = new Schemas(document, findings);
  const operations = new Operations(document, schemas, findings, options.unknownQuery ?? 'refuse');
  const { title, version } = readInfo(document, findings);
  const prefixes = serverPaths(document, findings, options.serverPath);
  const paths = new Paths(document, findings);
  paths.read(operations);
  operations.link();
  schemas.finish();
  const judged = judge(document, findings, operations.described, { answers: options.responses !== 'off' });
  const canMatch = (operation: Operation) => paths.canMatch(operation);
  const treated = treat(operations.finish(prefixes[0]!), judged, options.leniency ?? 'none', canMatch);
  const notes = [...findings.notes, ...judged.unused, ...treated.tolerated].sort(byPlace);
  if (treated.refused.length > 0) throw new ContractError(treated.refused, notes);

  const all = Object.freeze(treated.operations.map((operation) => Object.freeze(operation)));
  const router = paths.route(all);
  return Object.freeze({
    title,
    version,
    operations: all,
    files: document.texts,
    document: document.root,
    json: JSON.stringify(document.root, exactly, 2),
    yaml: stringify(document.root, { aliasDuplicateObjects: false, lineWidth: 0 }),
    notes,
    exempted: treated.exempted,
    match(method: string, path: string) {
      const rest = behind(prefixes, path);
      return rest === null ? NOT_FOUND : router.match(method, rest);
    },
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

import { type Checked, fingerprintOf, namesOf } from './checked.ts';
import { digestsOf } from './digests.ts';
import { type Document, loadDocument } from './document/document.ts';
import { Places } from './document/places.ts';
import { isObject } from './document/source.ts';
import { toJson } from './exact-json.ts';
import { refuseStray } from './extensions.ts';
import { byPlace, Findings } from './findings.ts';
import { judge } from './judgement.ts';
import { treat } from './leniency.ts';
import { Operations } from './operations.ts';
import { type Reading, readingOf } from './options.ts';
import { Paths } from './paths.ts';
import { ContractError, type Problem } from './problems.ts';
import { Ratelimits } from './ratelimits.ts';
import { Schemas } from './schema/schemas.ts';
import { createContract } from './served.ts';
import { serverPaths } from './servers.ts';
import type { ReadContract } from './types.ts';
import { NamedUpstreams } from './upstreams.ts';

export { MAX_FAULTS } from './faults.ts';
export { formatExempted } from './leniency.ts';
export type { MediaRule } from './media/rules.ts';
export { isSameReading, type Reading, type Treatment, type UnknownQuery } from './options.ts';
export { ContractError, formatProblem, formatProblems, type Problem } from './problems.ts';
export type { BodyRule, Contract, Exempted, Match, Operation, ReadContract, Side } from './types.ts';

export interface ContractOptions extends Reading {
  /** The text of the file, if it is known; the file is then not read. */
  readonly text?: string | undefined;
}

/**
 * Reads an OpenAPI document (3.0, 3.1 or 3.2, YAML or JSON) and the files it refers to, and checks all of it. This takes seconds for a large
 * one: `run/contracts/` does it in another process.
 *
 * @throws ContractError with every mistake.
 */
export function loadContract(file: string, options: ContractOptions = {}): ReadContract {
  const { checked, notes } = checkContract(file, options);
  return Object.assign(createContract(checked), { notes });
}

/** The same, but returns what a contract is made of. */
export function checkContract(
  file: string,
  options: ContractOptions = {},
): { readonly checked: Checked; readonly notes: readonly Problem[] } {
  const places = new Places();
  const findings = new Findings(places);
  const document = loadDocument({ file, text: options.text }, places, findings, readingOf(options));
  const schemas = new Schemas(document, findings);
  const operations = new Operations(document, schemas, findings);
  const { title, version } = readInfo(document, findings);
  const prefixes = serverPaths(document, findings, options.serverPath);
  const paths = new Paths(document, findings);
  paths.read(operations);
  operations.link();
  refuseStray(document, findings);
  schemas.finish();
  const finished = new NamedUpstreams(document, findings).of(operations.finish(prefixes[0]!));
  const ratelimits = new Ratelimits(document, finished, findings);
  const judged = judge(document, findings, operations.described, { answers: options.responses !== 'off' });
  const treated = treat(finished, judged, options.leniency ?? 'none', (operation) => paths.canMatch(operation));
  const notes = [...findings.notes, ...judged.unused, ...treated.tolerated].sort(byPlace);
  if (treated.refused.length > 0) throw new ContractError(treated.refused, notes);

  const { root, texts } = document;
  const checked: Checked = {
    title,
    version,
    ...ratelimits.of(treated.operations),
    exempted: treated.exempted,
    prefixes,
    document,
    definitions: schemas.definitions,
    files: new Map([...texts].map(([path, text]) => [path, fingerprintOf(text)])),
    fingerprint: fingerprintOf(toJson(root)),
    digests: digestsOf(treated.operations, document),
    names: namesOf(root),
  };
  return { checked, notes };
}

function readInfo({ root }: Document, findings: Findings): { title: string; version: string } {
  const info = isObject(root.info) ? root.info : null;
  if (root.info === undefined) findings.problem(root, null, 'an OpenAPI document needs info');
  for (const key of ['title', 'version']) {
    if (info && info[key] === undefined) findings.problem(info, null, `info needs a ${key}`);
  }
  return { title: String(info?.title), version: String(info?.version) };
}

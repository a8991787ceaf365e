/**
 * Whether the gateway takes valid requests: makes some for every operation of every document that loads, from its schemas, and
 * prints how many are refused. One command:
 *
 *     node --disable-warning=ExperimentalWarning bench/generated.ts /tmp/documents
 *
 * `--each 300` is the least number of requests for a document, `--only github` takes one of them, and `--show` prints refused requests.
 * Documents with mistakes are loaded without the operations that have them (`contract.leniency: omit`). The requests come from
 * an own reading of the document (`generated/`), and plain ajv has accepted their values.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  ContractError,
  type ContractOptions,
  loadContract,
  type ReadContract,
} from '../packages/openapi/src/contract.ts';
import { OpenApi } from './generated/document.ts';
import { Opinion } from './generated/opinion.ts';
import { Random } from './generated/random.ts';
import { type Request, Requests } from './generated/requests.ts';
import { Impossible, Values } from './generated/values.ts';
import { faultsOf } from './generated/verdict.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { each: { type: 'string', default: '300' }, only: { type: 'string' }, show: { type: 'boolean' } },
});
const [folder] = positionals;
if (folder === undefined) throw new Error('name a folder of OpenAPI documents');
const least = Number(options.each);
const TRIES = 3;

console.log('| document | loads | operations | requests | wrongly refused | kinds | not made |');
console.log('|---|---|--:|--:|--:|---|--:|');
for (const name of readdirSync(folder).sort()) {
  if (!/\.(json|ya?ml)$/.test(name) || !name.includes(options.only ?? '')) continue;
  const line = lineOf(name, join(folder, name));
  if (line !== null) console.log(line);
}

/** `null` for a document that does not load. */
function lineOf(name: string, file: string): string | null {
  const loaded = load(file);
  if (loaded === null) return null;
  const { contract, how } = loaded;
  const served = new Set(contract.operations.map(({ method, path }) => `${method} ${path}`));
  const document = new OpenApi(file);
  const operations = [...document.operations()].filter(({ method, path }) => served.has(`${method} ${path}`));
  const random = new Random(name);
  const requests = new Requests(document, new Values(document, new Opinion(document), random), random);
  const kinds = new Map<string, number>();
  const unmade = new Set<string>();
  let sent = 0;
  let refused = 0;
  const rounds = Math.ceil(least / Math.max(1, operations.length)) * 2;
  for (let round = 0; round < rounds && (round === 0 || sent < least); round++) {
    for (const operation of operations) {
      const request = made(() => requests.make(operation));
      if (request === null) {
        unmade.add(`${operation.method} ${operation.path}`);
        continue;
      }
      sent++;
      const faults = faultsOf(contract, request);
      if (faults.length === 0) continue;
      refused++;
      for (const kind of new Set(faults.map((fault) => fault.split(' ', 2).join(' '))))
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      if (options.show) console.error(operation.method, operation.path, '\n  ', told(request), '\n  ', faults);
    }
  }
  if (options.show) console.error('not made:', [...unmade]);
  const cells = [name, how, operations.length, sent, refused, kindsIn(kinds), unmade.size];
  return `| ${cells.join(' | ')} |`;
}

function load(file: string): { readonly contract: ReadContract; readonly how: string } | null {
  const reading: ContractOptions = { unknownQuery: 'refuse', responses: 'off' };
  for (const [how, leniency] of [
    ['as it is', 'none'],
    ['with omit', 'omit'],
  ] as const) {
    try {
      const contract = loadContract(file, { ...reading, leniency });
      return { contract, how: leniency === 'none' ? how : `${how}, ${contract.exempted.length} left out` };
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
    }
  }
  return null;
}

function made(make: () => Request): Request | null {
  for (let i = 0; i < TRIES; i++) {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof Impossible)) throw error;
    }
  }
  return null;
}

function told({ target, headers, body }: Request): string {
  return `${target} ${headers.join(' ')} ${body ? `${body.type} ${body.bytes.toString().slice(0, 2_000)}` : ''}`;
}

function kindsIn(kinds: ReadonlyMap<string, number>): string {
  const sorted = [...kinds].sort(([, a], [, b]) => b - a);
  return sorted.map(([kind, count]) => `${count} × ${kind}`).join(', ') || '–';
}

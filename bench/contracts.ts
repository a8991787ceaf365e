/**
 * Which OpenAPI documents load, and their cost, as a table:
 *
 *     node --disable-warning=ExperimentalWarning bench/contracts.ts /tmp/documents
 */

import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ContractError, checkContract, type Problem } from '@storegate/openapi';
import { ContractLoader } from '../src/run/contracts/loader.ts';

interface Row {
  readonly title: string;
  readonly operations: number;
  readonly problems: readonly string[];
  readonly notes: number;
  /** Milliseconds. */
  readonly time: number;
  readonly cpu: number;
  /** Bytes. */
  readonly peak: number;
  readonly serving: number;
}

const MOST_PRINTED = 3;

const [target, ...options] = process.argv.slice(2);
if (target === undefined) throw new Error('name a folder of OpenAPI documents');
if (options[0] === '--check') console.log(JSON.stringify(check(target)));
else if (options[0] === '--serve') console.log(await serve(target));
else printTable(target);

function printTable(folder: string): void {
  const files = readdirSync(folder).filter((name) => /\.(json|ya?ml)$/.test(name));
  console.log(
    '| document | title and version | MB | operations | s | CPU s | MB to check | MB to serve | result |',
  );
  console.log('|---|---|--:|--:|--:|--:|--:|--:|---|');
  for (const file of files.sort()) console.log(lineOf(join(folder, file)));
}

function lineOf(file: string): string {
  const row: Row = JSON.parse(ask(file, '--check'));
  const serving = row.problems.length === 0 ? Number(ask(file, '--serve')) : 0;
  const megabytes = (bytes: number) => (bytes === 0 ? '–' : String(Math.round(bytes / 1e6)));
  const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(1);
  const size = (statSync(file).size / 1e6).toFixed(1);
  const cells = [
    basename(file),
    row.title,
    size,
    row.operations || '–',
    seconds(row.time),
    seconds(row.cpu),
  ];
  return `| ${[...cells, megabytes(row.peak), megabytes(serving), resultOf(row)].join(' | ')} |`;
}

function ask(file: string, what: string): string {
  const args = ['--disable-warning=ExperimentalWarning', import.meta.filename, file, what];
  return execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
}

function resultOf({ problems, notes }: Row): string {
  if (problems.length === 0) return `loads, ${notes} notes`;
  const kinds = Object.entries(Object.groupBy(problems, kindOf)).map(
    ([kind, all]) => [kind, all!.length] as const,
  );
  const printed = kinds.sort(([, a], [, b]) => b - a).slice(0, MOST_PRINTED);
  const rest = kinds.length > MOST_PRINTED ? ', …' : '';
  return `**${problems.length}**: ${printed.map(([kind, count]) => `${count} × ${kind}`).join(', ')}${rest}`.replaceAll(
    '|',
    '\\|',
  );
}

/** A message without the names and values in it. */
function kindOf(message: string): string {
  return message.replace(/(?:\S*[#/{}_$\d\\^]\S*\s?)+/g, '… ').trim();
}

function check(file: string): Row {
  const [start, before] = [performance.now(), process.cpuUsage()];
  const outcome = outcomeOf(file);
  const { user, system } = process.cpuUsage(before);
  return {
    ...outcome,
    time: performance.now() - start,
    cpu: (user + system) / 1_000,
    peak: process.resourceUsage().maxRSS * 1_024,
    serving: 0,
  };
}

function outcomeOf(file: string): Pick<Row, 'title' | 'operations' | 'problems' | 'notes'> {
  try {
    const { compiled, notes } = checkContract(file);
    const { title, version, operations } = compiled;
    return {
      title: `${title} ${version}`,
      operations: operations.length,
      problems: [],
      notes: notes.length,
    };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const problems = error.problems.map(({ message }: Problem) => message);
    return { title: '–', operations: 0, problems, notes: 0 };
  }
}

/** Resident bytes. */
async function serve(file: string): Promise<number> {
  const { contract } = await new ContractLoader().load({
    contract: { file, unknownQuery: 'refuse' },
    data: '',
    usage: { enabled: true },
    keys: { headers: null },
    plans: {},
  });
  if (contract.operations.length === 0) throw new Error(`${file} has no operations`);
  return process.memoryUsage().rss;
}

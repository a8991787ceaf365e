import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Contract,
  ContractError,
  loadContract,
  type Operation,
  type ReadContract,
  type Reading,
} from '../src/index.ts';

type Json = Record<string, unknown>;

export function loadText(text: string, options?: Reading, name = 'openapi.yaml'): ReadContract {
  const folder = mkdtempSync(join(tmpdir(), 'contract-'));
  try {
    const file = join(folder, name);
    writeFileSync(file, text);
    return loadContract(file, options);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const head = { openapi: '3.0.3', info: { title: 'Test', version: '1' } };

export function load(
  paths: Json,
  components: Json = {},
  options?: Reading,
  openapi = head.openapi,
): ReadContract {
  return loadText(JSON.stringify({ ...head, openapi, paths, components }, bigints, 1), options);
}

const bigints = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;

export const done = { 200: { description: 'Done.' } };

export const only = ({ operations }: Contract): Operation => operations[0]!;

export const short = (faults: readonly { pointer: string; message: string }[]): string[] =>
  faults.map(({ pointer, message }) => `${pointer} ${message}`.trim());

/** The other schemas may refer to each other by name. */
export function checker(
  schema: Json,
  schemas: Json = {},
  options?: Reading,
  openapi?: string,
): (text: string) => string[] {
  const content = { 'application/json': { schema } };
  const contract = load(
    { '/': { post: { requestBody: { content }, responses: done } } },
    { schemas },
    options,
    openapi,
  );
  const media = only(contract).body!.media('application/json')!;
  return (text) => short(media.check(new TextEncoder().encode(text)));
}

export function responseChecker(schema: Json, schemas: Json = {}): (text: string) => string[] {
  const responses = { 200: { description: 'Done.', content: { 'application/json': { schema } } } };
  const operation = only(load({ '/': { get: { responses } } }, { schemas }));
  return (text) =>
    short(operation.checkResponse(200, 'application/json', new TextEncoder().encode(text)));
}

/** Without those about missing operationIds, which most tests have. */
export const notesOf = ({ notes }: ReadContract): string[] =>
  notes.map(({ message }) => message).filter((message) => !message.includes('has no operationId'));

export function problemsOf(read: () => Contract): string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ContractError)
      return error.problems.map(({ place, message }) => `${place}: ${message}`);
    throw error;
  }
  return [];
}

/** Rows of a table by their fault: what is wrong, the fault, and the text that has it. */
export function byFault(
  table: Readonly<Record<string, Readonly<Record<string, string>>>>,
): [what: string, fault: string, text: string][] {
  return Object.entries(table).flatMap(([fault, texts]) =>
    Object.entries(texts).map(([what, text]): [string, string, string] => [what, fault, text]),
  );
}

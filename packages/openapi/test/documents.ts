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

/** Writes them as numbers of JSON. */
export const bigints = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;

export const done = { 200: { description: 'Done.' } };

export const only = ({ operations }: Contract): Operation => operations[0]!;

export const short = (faults: readonly { pointer: string; message: string }[]): string[] =>
  faults.map(({ pointer, message }) => `${pointer} ${message}`.trim());

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });

export interface More {
  /** They may refer to each other by name. */
  readonly schemas?: Json;
  readonly reading?: Reading | undefined;
  readonly openapi?: string | undefined;
}

const loaded = (paths: Json, { schemas = {}, reading, openapi }: More): ReadContract =>
  load(paths, { schemas }, reading, openapi);

/** A contract of one operation, whose body is of these media types. */
export const taking = (content: Json, more: More = {}, fields: Json = {}): ReadContract =>
  loaded({ '/': { post: { requestBody: { content }, responses: done, ...fields } } }, more);

/** A contract of one operation with these parameters. */
export const asking = (parameters: readonly object[], more: More = {}, path = '/'): ReadContract =>
  loaded({ [path]: { get: { parameters, responses: done } } }, more);

type Sent = string | Uint8Array;

/** The faults of a body, or its status if the contract does not take its type. */
export function bodyChecker(contract: Contract, usual: string) {
  const body = only(contract).body!;
  return (sent: Sent, type: string | undefined = usual): string[] => {
    const media = body.media(type);
    return media
      ? short(media.check(typeof sent === 'string' ? Buffer.from(sent) : sent))
      : ['415'];
  };
}

export const queryChecker = (contract: Contract) => (query: string) =>
  short(only(contract).checkParameters([], query, []));

/** The other schemas may refer to each other by name. */
export const checker = (schema: Json, schemas: Json = {}, reading?: Reading, openapi?: string) =>
  bodyChecker(taking(json(schema).content, { schemas, reading, openapi }), 'application/json');

/** The same for responses. */
export function responseChecker(schema: Json, schemas: Json = {}, type = 'application/json') {
  const responses = {
    200: { description: 'Done.', content: { [type.split(';')[0]!]: { schema } } },
  };
  const operation = only(load({ '/': { get: { responses } } }, { schemas }));
  return (text: string): string[] => short(operation.checkResponse(200, type, Buffer.from(text)));
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

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from '@babel/parser';
import type { Event } from '../../src/observe/events.ts';
import { createLog } from '../../src/observe/log.ts';
import { line } from './shape.ts';

const [TABLE, REQUEST_FIELDS] = ['log-table.ts', 'request-fields.ts'].map((name) =>
  resolve(import.meta.dirname, '../../src/observe', name),
) as [string, string];

const LEVELS = new Set(['info', 'warn', 'error']);

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly value?: unknown;
  readonly id?: Node;
  readonly init?: Node;
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
  readonly consequent?: Node;
  readonly alternate?: Node;
  readonly key?: Node;
  readonly properties?: readonly Node[];
}

export interface LogRow {
  /** The `msg` of its lines begins with it. */
  readonly event: string;
  readonly levels: readonly string[];
  readonly message: string | null;
  readonly fields: readonly string[];
}

export function* logLines(): Generator<string> {
  for (const [field, value] of Object.entries(sampleLine()))
    yield line(`log * ${field}`, [typeof value]);
  for (const { event, levels, message, fields } of logRows()) {
    yield line(`log ${event}`, [...levels, message !== null && JSON.stringify(message)]);
    for (const field of fields) yield `log ${event} ${field}`;
  }
}

/**
 * Every event of the log with its fields, read from the rows of the table: some fields depend on
 * values.
 */
export function* logRows(): Generator<LogRow> {
  const nodes = [TABLE, REQUEST_FIELDS].flatMap(nodesOf);
  const functions = new Map(nodes.filter(isFunction).map((node) => [node.id!.name!, node]));
  const rows = nodes.find(({ type, id }) => type === 'VariableDeclarator' && id!.name === 'rows')!
    .init!.properties!;
  for (const { key, value } of rows) {
    const parts = [...nodesBelow(value as Node, functions)];
    const calls = parts.filter(({ callee }) => levelsOf(callee).length > 0);
    if (calls.length === 0) continue;
    const levels = calls.flatMap(({ callee }) => levelsOf(callee));
    const message = calls
      .map((call) => call.arguments?.[1]?.value)
      .find((value) => value !== undefined);
    const inText = [...new Set(parts.flatMap(fieldsInText))];
    yield {
      event: nameOf(key!),
      levels: [...new Set(levels)],
      message: message === undefined ? null : String(message),
      fields: inText.length > 0 ? inText : parts.flatMap(fieldsInObject),
    };
  }
}

/** Or the result of one. */
const isFunction = ({ type, init }: Node): boolean =>
  type === 'FunctionDeclaration' ||
  (type === 'VariableDeclarator' && init?.type === 'CallExpression');

function nodesOf(file: string): Node[] {
  const { program } = parse(readFileSync(file, 'utf8'), {
    sourceType: 'module',
    plugins: ['typescript'],
  });
  return [...nodesIn(program as unknown as Node)];
}

function fieldsInObject({ type, properties }: Node): string[] {
  if (type !== 'ObjectExpression') return [];
  const named = properties!.filter((property) => property.type === 'ObjectProperty');
  return named.map(({ key }) => nameOf(key!));
}

/** Lines of requests are written without objects. */
function fieldsInText({ type, value }: Node): string[] {
  if (type !== 'TemplateElement') return [];
  const { raw } = value as { readonly raw: string };
  return [...raw.matchAll(/"(\w+)":/g)].map(([, name]) => name!);
}

/** The fields of every line. */
function sampleLine(): object {
  const lines: string[] = [];
  const destination = { write: (text: string) => void lines.push(text) };
  const log = createLog(
    { level: 'info', requests: true, format: 'json' },
    { destination, worker: 1 },
  );
  const event: Event = { type: 'state.write_recovered' };
  log.observe(event);
  log.close();
  return JSON.parse(lines[0]!);
}

/** The level is that of a call of `info`, or of `(condition ? error : info)`. */
function levelsOf(callee: Node | undefined): readonly string[] {
  if (callee?.type === 'ConditionalExpression')
    return [callee.consequent, callee.alternate].flatMap(levelsOf);
  return callee?.type === 'Identifier' && LEVELS.has(callee.name!) ? [callee.name!] : [];
}

const nameOf = ({ name, value }: Node): string => name ?? String(value);

function* nodesIn(node: Node): Generator<Node> {
  yield node;
  for (const child of Object.values(node).flat())
    if (typeof (child as Node | null)?.type === 'string') yield* nodesIn(child as Node);
}

/** With the functions of the file that it names. */
function* nodesBelow(
  node: Node,
  functions: ReadonlyMap<string, Node>,
  seen: Set<Node> = new Set(),
): Generator<Node> {
  for (const inner of nodesIn(node)) {
    yield inner;
    const called = inner.type === 'Identifier' ? functions.get(inner.name!) : undefined;
    if (called === undefined || seen.has(called)) continue;
    seen.add(called);
    yield* nodesBelow(called, functions, seen);
  }
}

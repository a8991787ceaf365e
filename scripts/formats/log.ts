import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseExpression } from '@babel/parser';
import { createLog } from '../../src/observe/log.ts';
import { createLogTable } from '../../src/observe/log-table.ts';
import { line } from './line.ts';

interface Node {
  readonly type: string;
  readonly name?: string;
  readonly value?: unknown;
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
  const { id: _, err, ...every } = sampleLine();
  for (const [field, value] of Object.entries(every)) yield `log * ${field}: ${typeof value}`;
  for (const field of Object.keys(err as object)) yield `log bug err.${field}`;
  for (const { event, levels, message, fields } of logRows()) {
    yield line(`log ${event}`, [...levels, message !== null && JSON.stringify(message)]);
    for (const field of fields) yield `log ${event} ${field}`;
  }
}

/** Every event of the log, read from the text of its row: some fields depend on values. */
export function* logRows(): Generator<LogRow> {
  for (const [event, row] of Object.entries(createLogTable())) {
    const calls = [...nodesIn(parseExpression(`${row}`) as Node)].filter(
      ({ callee }) => levelsOf(callee).length > 0,
    );
    if (calls.length === 0) continue;
    const fields = calls.flatMap((call) => [...nodesIn(call.arguments![0]!)].flatMap(fieldsIn));
    const message = calls.map((call) => call.arguments![1]?.value).find((text) => text);
    yield {
      event,
      levels: [...new Set(calls.flatMap(({ callee }) => levelsOf(callee)))],
      message: message === undefined ? null : `${message}`,
      fields: event === 'request' ? requestFields() : fields,
    };
  }
}

/** The level is that of a call of `info`, or of `(condition ? error : info)`. */
function levelsOf(callee: Node | undefined): readonly string[] {
  if (callee?.type === 'ConditionalExpression')
    return [callee.consequent, callee.alternate].flatMap(levelsOf);
  return ['info', 'warn', 'error'].filter((level) => callee?.name === level);
}

function fieldsIn({ type, properties }: Node): string[] {
  if (type !== 'ObjectExpression') return [];
  const named = properties!.filter((property) => property.type === 'ObjectProperty');
  return named.map(({ key }) => key!.name ?? `${key!.value}`);
}

function* nodesIn(node: Node): Generator<Node> {
  yield node;
  for (const child of Object.values(node).flat())
    if (typeof (child as Node | null)?.type === 'string') yield* nodesIn(child as Node);
}

/** Lines of requests are written without objects. */
function requestFields(): string[] {
  const file = resolve(import.meta.dirname, '../../src/observe/request-fields.ts');
  const names = readFileSync(file, 'utf8').matchAll(/"(\w+)":/g);
  return [...new Set([...names].map(([, name]) => name!))];
}

/** It has the fields of every line, and those of an error. */
function sampleLine(): Record<string, unknown> {
  const lines: string[] = [];
  const destination = { write: (text: string) => void lines.push(text) };
  const log = createLog(
    { level: 'info', requests: true, format: 'json' },
    { destination, worker: 1 },
  );
  log.observe({ type: 'bug', id: 'an-id', error: new Error('a bug') });
  log.close();
  return JSON.parse(lines[0]!);
}

import { readFileSync } from 'node:fs';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import { parse } from 'yaml';
import { type Direction, line, type Schema, shapeOf } from './shape.ts';

interface Reference {
  readonly $ref?: string;
}

interface Parameter extends Reference {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Media {
  readonly schema: Schema;
  readonly 'x-events'?: Readonly<Record<string, Schema>>;
}

interface Body extends Reference {
  readonly required?: boolean;
  readonly content?: Readonly<Record<string, Media>>;
}

interface Operation {
  readonly operationId: string;
  readonly 'x-role'?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
}

export function* adminApi(): Generator<string> {
  const { paths, components } = parse(readFileSync(ADMIN_CONTRACT, 'utf8')) as Contract;
  const find = (ref: string) => components[ref.split('/').at(-2)!]![ref.split('/').at(-1)!]!;
  const requests = directionOf('request', true, find);
  const responses = directionOf('response', false, find);
  for (const [path, item] of Object.entries(paths)) {
    const { parameters: shared = [], ...operations } = item as typeof item & {
      parameters?: readonly Parameter[];
    };
    for (const [method, operation] of Object.entries(operations)) {
      const name = `admin ${method.toUpperCase()} ${path}`;
      const parameters = [...shared, ...(operation.parameters ?? [])].map((one) =>
        targetOf(one, find),
      );
      yield* inputsOf(name, operation, parameters, requests);
      yield* responsesOf(name, operation, responses);
    }
  }
  // Each set grows meanwhile by the schemas that its schemas refer to.
  for (const { kind, names, ...way } of [requests, responses])
    for (const name of names)
      yield* shapeOf(`admin ${kind} ${name}`, components.schemas![name]!, way);
}

function directionOf(kind: string, isInput: boolean, find: Direction['find']) {
  const names = new Set<string>();
  const refer = (ref: string) => {
    const name = ref.split('/').at(-1)!;
    names.add(name);
    return name;
  };
  return { kind, names, isInput, find, refer };
}

function targetOf<T extends Reference>(one: T, find: Direction['find']): T {
  return one.$ref === undefined ? one : (find(one.$ref) as T);
}

function* inputsOf(
  name: string,
  operation: Operation,
  parameters: readonly Parameter[],
  way: Direction,
) {
  const { operationId, 'x-role': role, requestBody } = operation;
  const needed = parameters.filter(({ required }) => required).map((one) => one.name);
  if (requestBody?.required) needed.push('body');
  yield line(name, [
    operationId,
    role !== undefined && `role ${role}`,
    needed.length > 0 && `needs ${needed.join(' ')}`,
  ]);
  for (const one of parameters) yield* shapeOf(`${name} ${one.in} ${one.name}`, one.schema, way);
  for (const [type, { schema }] of Object.entries(requestBody?.content ?? {}))
    yield* shapeOf(`${name} body ${type}`, schema, way);
}

function* responsesOf(name: string, { responses }: Operation, way: Direction) {
  for (const [status, reference] of Object.entries(responses)) {
    const { content = {} } = targetOf(reference, way.find);
    yield `${name} ${status}`;
    for (const [type, { schema, 'x-events': events = {} }] of Object.entries(content)) {
      yield* shapeOf(`${name} ${status} ${type}`, schema, way);
      for (const [event, data] of Object.entries(events))
        yield* shapeOf(`${name} event ${event}`, data, way);
    }
  }
}

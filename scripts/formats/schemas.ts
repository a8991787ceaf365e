import { readFileSync } from 'node:fs';
import { WEBHOOK_SCHEMA } from '@storegate/admin-api/files';
import { schemaOf } from '../../src/config/schema/schema.ts';
import { type Body, OPERATIONS, responses, schemas } from '../admin-contract.ts';
import { nameIn, type Schema } from '../schema.ts';
import { line } from './line.ts';

interface Way {
  /** Others write the value, so its rules are promises too. Otherwise they read it. */
  readonly isInput: boolean;
  readonly definitions: Readonly<Record<string, Schema>>;
  /** Definitions with lines of their own. Without it they are described in place. */
  readonly named?: Set<string>;
}

const NOTED = ['nullable', 'format', 'x-unit'];
const RULES = ['minimum', 'maximum', 'x-between', 'required', 'oneOf', 'default', 'x-env'];

/** A line for each value, member and entry that `given` allows at `at`. */
function* shapeOf(at: string, given: Schema, way: Way, isRequired = false): Generator<string> {
  const always = !way.isInput && isRequired && 'always';
  if (given.$ref !== undefined && way.named !== undefined) {
    const name = nameIn(given.$ref);
    way.named.add(name);
    return yield line(at, [name, always]);
  }
  const schema = merged(given, way);
  const { type, properties = {}, required = [], items, additionalProperties: entries } = schema;
  const keywords: Readonly<Record<string, unknown>> = { ...schema };
  const notes = [...NOTED, ...(way.isInput ? RULES : [])]
    .filter((keyword) => keywords[keyword] !== undefined)
    .map((keyword) => `${keyword} ${JSON.stringify(keywords[keyword])}`);
  yield line(at, [type !== undefined && `${type}`, ...notes, always]);
  for (const value of schema.enum ?? []) yield `${at} = ${value}`;
  for (const [name, member] of Object.entries(properties))
    yield* shapeOf(`${at}.${name}`, member, way, required.includes(name));
  if (items !== undefined) yield* shapeOf(`${at}[]`, items, way);
  if (typeof entries === 'object') yield* shapeOf(`${at}.<name>`, entries, way);
}

function merged({ $ref, allOf = [], ...own }: Schema, way: Way): Schema {
  const target = $ref === undefined ? [] : [way.definitions[nameIn($ref)]!];
  const all = [...[...target, ...allOf].map((part) => merged(part, way)), own as Schema];
  const required = all.flatMap((part) => part.required ?? []);
  return {
    ...Object.assign({}, ...all),
    properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    ...(required.length > 0 && { required }),
  };
}

export function* settings(): Generator<string> {
  for (const name of ['gateway', 'plans'] as const) {
    const { definitions = {}, properties = {}, required } = schemaOf(name);
    yield line(`${name}.yaml`, [required !== undefined && `required ${required}`]);
    for (const [key, schema] of Object.entries(properties))
      yield* shapeOf(`${name}.yaml ${key}`, schema, { isInput: true, definitions });
  }
}

export function* webhooks(): Generator<string> {
  const { definitions = {} } = JSON.parse(readFileSync(WEBHOOK_SCHEMA, 'utf8')) as Schema;
  for (const [type, schema] of Object.entries(definitions))
    yield* shapeOf(`webhook ${type}`, schema, { isInput: false, definitions });
}

export function* adminApi(): Generator<string> {
  const [sent, received] = [true, false].map((isInput) => {
    return { isInput, definitions: schemas, named: new Set<string>() };
  }) as [Required<Way>, Required<Way>];
  for (const { method, path, operationId, parameters, requestBody, ...operation } of OPERATIONS) {
    const name = `admin ${method} ${path}`;
    const needed = parameters.filter(({ required }) => required).map((one) => one.name);
    if (requestBody?.required) needed.push('body');
    const role = `role ${operation['x-role']}`;
    yield line(name, [operationId, role, needed.length > 0 && `needs ${needed.join(' ')}`]);
    for (const one of parameters) yield* shapeOf(`${name} ${one.in} ${one.name}`, one.schema, sent);
    yield* contentOf(`${name} body`, requestBody, sent);
    for (const [status, body] of Object.entries(operation.responses)) {
      yield `${name} ${status}`;
      const response = body.$ref === undefined ? body : responses[nameIn(body.$ref)];
      yield* contentOf(`${name} ${status}`, response, received);
    }
  }
  // Each set grows meanwhile by the schemas that its schemas refer to.
  for (const way of [sent, received])
    for (const name of way.named)
      yield* shapeOf(`admin ${way.isInput ? 'request' : 'response'} ${name}`, schemas[name]!, way);
}

function* contentOf(at: string, body: Body | undefined, way: Way): Generator<string> {
  for (const [type, { schema }] of Object.entries(body?.content ?? {}))
    yield* shapeOf(`${at} ${type}`, schema, way);
}

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { WEBHOOK_SCHEMA } from '@storegate/admin-api/files';
import { line, type Schema, shapeOf } from './shape.ts';

interface Root extends Schema {
  readonly definitions: Readonly<Record<string, Schema>>;
}

const CONFIG = resolve(import.meta.dirname, '../../config');

function read(file: string) {
  const root = JSON.parse(readFileSync(file, 'utf8')) as Root;
  return { root, find: (ref: string) => root.definitions[ref.replace('#/definitions/', '')]! };
}

export function* settings(): Generator<string> {
  for (const name of ['gateway', 'plans']) {
    const { root, find } = read(resolve(CONFIG, `${name}.schema.json`));
    yield line(`${name}.yaml`, [root.required !== undefined && `needs ${root.required.join(' ')}`]);
    for (const [key, schema] of Object.entries(root.properties!))
      yield* shapeOf(`${name}.yaml ${key}`, schema, { isInput: true, find });
  }
}

export function* webhooks(): Generator<string> {
  const { root, find } = read(WEBHOOK_SCHEMA);
  for (const [type, schema] of Object.entries(root.definitions))
    yield* shapeOf(`webhook ${type}`, schema, { isInput: false, find });
}

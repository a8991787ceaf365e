import type { Contract } from '../../src/index.ts';
import { isJson, parseMediaType } from '../../src/media/type.ts';
import { isObject, type Json, type OpenApi } from './document.ts';

export interface Example {
  readonly operation: string;
  readonly name: string;
  readonly value: unknown;
  readonly faults: readonly string[];
}

export function* examplesOf(document: OpenApi, { operations }: Contract): Generator<Example> {
  const served = new Map(
    operations.map((operation) => [`${operation.method} ${operation.path}`, operation]),
  );
  for (const { method, path, body } of document.operations()) {
    const operation = `${method} ${path}`;
    for (const [entry, reference] of Object.entries(body?.content ?? {})) {
      const type = parseMediaType(entry);
      const media = served.get(operation)?.body?.media(entry);
      if (!media || !type || !isJson(type)) continue;
      for (const [name, value] of namedIn(document, document.follow(reference))) {
        const faults = media.check(Buffer.from(JSON.stringify(value)));
        yield {
          operation,
          name,
          value,
          faults: faults.map(({ rule, pointer }) => `${rule}: ${pointer}`),
        };
      }
    }
  }
}

function* namedIn(
  document: OpenApi,
  media: Json,
): Generator<readonly [name: string, value: unknown]> {
  if ('example' in media) yield ['example', media.example];
  for (const [name, reference] of Object.entries(isObject(media.examples) ? media.examples : {})) {
    const example = document.follow(reference);
    if ('value' in example) yield [name, example.value];
  }
  const schema = document.follow(media.schema);
  if ('example' in schema) yield ['example of the schema', schema.example];
}

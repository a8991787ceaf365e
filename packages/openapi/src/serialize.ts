import * as v8 from 'node:v8';
import type { Compiled } from './compiled.ts';
import { Document } from './document/document.ts';
import type { Dynamics } from './document/resources.ts';
import { isObject, type Json } from './document/source.ts';
import type { Description } from './operations.ts';
import type { ReadingOptions } from './options.ts';
import type { Translated } from './schema/definitions.ts';
import type { Steps } from './slices.ts';

/** In the form of structured clone, each readable by itself. */
interface Parts {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
}

/** Operations that are read in one step. */
const BATCH = 50;

/**
 * By name. A document itself has no map, so a map stands for an object whose members are read on
 * demand.
 */
type Members = ReadonlyMap<string, number>;

/**
 * For transfer to another process, which reads operations in steps and the other parts on demand:
 * reading all of a large document at once blocks it for long.
 */
export interface Serialized<Fields = unknown, Shared = unknown>
  extends Omit<
    Compiled<Fields, Shared>,
    'document' | 'definitions' | 'operations'
  > {
  /** In batches. */
  readonly operations: readonly Uint8Array[];
  readonly reading: ReadingOptions;
  readonly dynamics: Dynamics | null;
  readonly frame: Json;
  readonly parts: Parts;
  readonly definitions: Members;
}

export function serialize<Fields, Shared>({
  document,
  definitions,
  operations,
  ...rest
}: Compiled<Fields, Shared>): Serialized<Fields, Shared> {
  const chunks: Buffer[] = [];
  const pack = (entries: readonly (readonly [string, unknown])[]) =>
    new Map(
      entries.map(([name, value]) => [
        name,
        chunks.push(v8.serialize(value)) - 1,
      ]),
    );
  const batches = Array.from(
    { length: Math.ceil(operations.length / BATCH) },
    (_, i) => v8.serialize(operations.slice(i * BATCH, (i + 1) * BATCH)),
  );
  const { root, reading, dynamics } = document;
  return {
    ...rest,
    operations: batches,
    reading,
    dynamics,
    frame: mapSections(root, (section) =>
      isObject(section) ? pack(Object.entries(section)) : section,
    ),
    definitions: pack(
      [...definitions.keys()].map((name) => [name, definitions.get(name)]),
    ),
    parts: partsOf(chunks),
  };
}

export function* deserialize<Fields, Shared>({
  operations: batches,
  reading,
  dynamics,
  frame,
  parts,
  definitions,
  ...rest
}: Serialized<Fields, Shared>): Steps<Compiled<Fields, Shared>> {
  const operations: (Description & Fields)[] = [];
  for (const batch of batches) {
    operations.push(...v8.deserialize(batch));
    yield;
  }
  const sections: (readonly [Json, Members])[] = [];
  const root = mapSections(frame, (section) => {
    if (!(section instanceof Map)) return section;
    const object: Json = {};
    sections.push([object, section]);
    return object;
  });
  for (const [object, members] of sections) {
    for (const [name, part] of members) {
      defineLazily(object, name, () => read(parts, part));
      yield;
    }
  }
  return {
    ...rest,
    operations,
    document: new Document(root, reading, dynamics),
    definitions: {
      keys: () => definitions.keys(),
      has: (name) => definitions.has(name),
      get: (name) => read(parts, definitions.get(name)!) as Translated,
    },
  };
}

/** Of `paths` and of each section of `components`. */
function mapSections(root: Json, change: (section: unknown) => unknown): Json {
  const { paths, components } = root;
  const sections =
    isObject(components) &&
    Object.entries(components).map(([name, section]) => [
      name,
      change(section),
    ]);
  return {
    ...root,
    ...(paths !== undefined && { paths: change(paths) }),
    ...(sections && { components: Object.fromEntries(sections) }),
  };
}

function partsOf(chunks: readonly Buffer[]): Parts {
  let end = 0;
  const ends = Uint32Array.from(chunks, ({ length }) => {
    end += length;
    return end;
  });
  return { bytes: new Uint8Array(Buffer.concat(chunks)), ends };
}

function read({ bytes, ends }: Parts, part: number): unknown {
  return v8.deserialize(bytes.subarray(ends[part - 1] ?? 0, ends[part]));
}

function defineLazily(object: Json, name: string, read: () => unknown): void {
  const get = () => {
    const value = read();
    Object.defineProperty(object, name, { value, enumerable: true });
    return value;
  };
  Object.defineProperty(object, name, {
    get,
    enumerable: true,
    configurable: true,
  });
}

import * as v8 from 'node:v8';
import type { Compiled } from './compiled.ts';
import { Document } from './document/document.ts';
import type { Dynamics } from './document/resources.ts';
import { isObject, type Json } from './document/source.ts';
import type { ReadingOptions } from './options.ts';
import type { Translated } from './schema/definitions.ts';

/** In the form of structured clone, each readable by itself. */
interface Parts {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
}

interface Members {
  readonly names: readonly string[];
  readonly first: number;
}

/**
 * For transfer to another process, which reads the parts on demand: reading all of a large document at once blocks it
 * for long.
 */
export interface Serialized<Fields = unknown, Shared = unknown>
  extends Omit<Compiled<Fields, Shared>, 'document' | 'definitions'> {
  readonly reading: ReadingOptions;
  readonly dynamics: Dynamics | null;
  readonly frame: Json;
  /** `null` if missing, which is a mistake that may be tolerated. */
  readonly paths: Members | null;
  readonly components: ReadonlyMap<string, Members>;
  readonly parts: Parts;
  readonly definitions: {
    readonly names: ReadonlyMap<string, string>;
    readonly parts: ReadonlyMap<string, number>;
  };
}

export function serialize<Fields, Shared>({
  document,
  definitions,
  ...rest
}: Compiled<Fields, Shared>): Serialized<Fields, Shared> {
  const parts = new Packer();
  const { root, reading, dynamics } = document;
  const sections = isObject(root.components) ? root.components : {};
  const { names } = definitions;
  return {
    ...rest,
    reading,
    dynamics,
    frame: {
      ...root,
      ...(isObject(root.paths) && { paths: null }),
      ...(isObject(root.components) && {
        components: mapMembers(sections, (section) => (isObject(section) ? null : section)),
      }),
    },
    paths: isObject(root.paths) ? parts.members(root.paths) : null,
    components: new Map(
      Object.entries(sections).flatMap(([name, section]) =>
        isObject(section) ? [[name, parts.members(section)]] : [],
      ),
    ),
    definitions: {
      names,
      parts: new Map([...names.values()].map((name) => [name, parts.add(definitions.definition(name))])),
    },
    parts: parts.finish(),
  };
}

export function deserialize<Fields, Shared>({
  reading,
  dynamics,
  frame,
  paths,
  components,
  parts,
  definitions,
  ...rest
}: Serialized<Fields, Shared>): Compiled<Fields, Shared> {
  const { names, parts: numbers } = definitions;
  const root: Json = {
    ...frame,
    ...(paths && { paths: lazy(paths, parts) }),
    ...(isObject(frame.components) && {
      components: mapMembers(frame.components, (section, name) => {
        const members = components.get(name);
        return members ? lazy(members, parts) : section;
      }),
    }),
  };
  return {
    ...rest,
    document: new Document(root, undefined, reading, dynamics),
    definitions: { names, definition: (name) => read(parts, numbers.get(name)!) as Translated },
  };
}

function mapMembers(object: Json, change: (value: unknown, name: string) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}

class Packer {
  readonly #chunks: Buffer[] = [];

  add(value: unknown): number {
    return this.#chunks.push(v8.serialize(value)) - 1;
  }

  members(value: Json): Members {
    const first = this.#chunks.length;
    for (const member of Object.values(value)) this.add(member);
    return { names: Object.keys(value), first };
  }

  finish(): Parts {
    const ends = new Uint32Array(this.#chunks.length);
    let end = 0;
    for (const [i, { length }] of this.#chunks.entries()) {
      end += length;
      ends[i] = end;
    }
    const bytes = new Uint8Array(end);
    for (const [i, chunk] of this.#chunks.entries()) bytes.set(chunk, ends[i]! - chunk.length);
    return { bytes, ends };
  }
}

function read({ bytes, ends }: Parts, part: number): unknown {
  return v8.deserialize(bytes.subarray(part === 0 ? 0 : ends[part - 1], ends[part]));
}

function lazy({ names, first }: Members, parts: Parts): Json {
  const object: Json = {};
  for (const [i, name] of names.entries()) {
    const get = () => {
      const value = read(parts, first + i);
      Object.defineProperty(object, name, { value, enumerable: true });
      return value;
    };
    Object.defineProperty(object, name, { get, enumerable: true, configurable: true });
  }
  return object;
}

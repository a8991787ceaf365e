import type { Findings } from '../findings.ts';
import type { Reading } from '../options.ts';
import { ContractError } from '../problems.ts';
import { Bundler } from './bundle.ts';
import type { Places } from './places.ts';
import { follow, isObject, type Json, type Written } from './source.ts';
import { Sources } from './sources.ts';

/** The object behind a reference, or an inline object. */
export interface Resolved {
  readonly node: Json;
  /** Its place in the bundled document; `null` for an inline object. */
  readonly pointer: string | null;
}

/** An OpenAPI 3.0 document in one piece: all references are local. */
export class Document {
  readonly root: Json;
  /** The texts of its files, by absolute path. */
  readonly texts: ReadonlyMap<string, string>;
  /** How it is read. */
  readonly reading: Reading;

  constructor(root: Json, texts: ReadonlyMap<string, string> = new Map(), reading: Reading = {}) {
    this.root = root;
    this.texts = texts;
    this.reading = reading;
  }

  /** Follows references to the end; `null` if they lead nowhere or in a circle, which loading has reported. */
  resolve(node: Json): Resolved | null {
    const end = this.#follow(node);
    return end === 'nowhere' || end === 'circle' ? null : end;
  }

  /** Whether a reference leads back to itself. */
  isCircle(node: Json): boolean {
    return this.#follow(node) === 'circle';
  }

  #follow(node: Json): Resolved | 'nowhere' | 'circle' {
    const seen = new Set<Json>();
    let pointer: string | null = null;
    let target: unknown = node;
    while (isObject(target) && typeof target.$ref === 'string') {
      if (seen.has(target)) return 'circle';
      seen.add(target);
      pointer = pointerIn(target.$ref);
      if (pointer === null) return 'nowhere';
      target = follow(this.root, pointer);
    }
    return isObject(target) ? { node: target, pointer } : 'nowhere';
  }

  /** The object that a reference names, which may be a reference too; `null` if there is none. */
  target(ref: string): Json | null {
    const pointer = pointerIn(ref);
    const target = pointer === null ? null : follow(this.root, pointer);
    return isObject(target) ? target : null;
  }

  /** The object in a field, through references; `null` if there is none. */
  object(value: unknown): Json | null {
    return isObject(value) ? (this.resolve(value)?.node ?? null) : null;
  }

  /** The members of an object in a field; none if the field holds anything else. */
  members(value: unknown): [name: string, value: unknown][] {
    return isObject(value) ? Object.entries(value) : [];
  }
}

/** The pointer of a local reference; `null` for any other, which loading has reported. */
function pointerIn(ref: string): string | null {
  if (!ref.startsWith('#')) return null;
  try {
    return decodeURIComponent(ref.slice(1));
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/**
 * Reads a document and the files it refers to, and adds its findings to `findings`.
 *
 * @throws ContractError if the file holds no OpenAPI 3.0 document.
 */
export function loadDocument(written: Written, places: Places, findings: Findings, reading: Reading): Document {
  const { file } = written;
  const sources = new Sources(written, places, findings);
  const { root } = sources.main;
  if (!isObject(root)) throw new ContractError([{ file, place: '1:1', message: 'is not an OpenAPI document' }]);
  const complaint = versionComplaint(root);
  if (complaint) {
    const key = 'openapi' in root ? 'openapi' : 'swagger' in root ? 'swagger' : null;
    throw new ContractError([places.of(root, key, complaint)]);
  }
  const bundler = new Bundler(root, sources, places, findings);
  bundler.bundle();
  const document = new Document(root, sources.texts, reading);
  for (const node of bundler.references) {
    if (document.isCircle(node)) findings.problem(node, '$ref', `${node.$ref} refers to itself`);
  }
  return document;
}

function versionComplaint({ openapi, swagger }: Json): string | null {
  if (typeof openapi === 'string' && /^3\.0\.\d+(?:-.+)?$/.test(openapi)) return null;
  const found = openapi ?? swagger;
  if (found === undefined) return 'must be an OpenAPI 3.0 document, but has no field openapi';
  return `must be OpenAPI 3.0, such as 3.0.3, not ${swagger === undefined ? '' : 'Swagger '}${String(found)}`;
}

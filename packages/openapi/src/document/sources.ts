import { dirname, join, resolve } from 'node:path';
import type { Findings } from '../findings.ts';
import { ContractError } from '../problems.ts';
import type { Places } from './places.ts';
import { decoded, follow, isObject, type Json, readSource, type Source, type SourceFile } from './source.ts';

const SCHEME = /^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/\/)/;

/** For a `null` target without a complaint, the loader has already reported the mistake. */
export interface Found {
  readonly target: Json | null;
  readonly complaint: string | null;
}

export class Sources {
  readonly file: string;
  readonly root: unknown;
  readonly places: Places;
  readonly findings: Findings;
  readonly #read = new Map<string, Source | null>();

  /**
   * @throws ContractError if the main file cannot be read.
   */
  constructor(main: SourceFile, places: Places, findings: Findings) {
    this.places = places;
    this.findings = findings;
    const source = readSource(main, places);
    this.file = main.file;
    this.root = source.root;
    this.#read.set(resolve(main.file), source);
  }

  get texts(): ReadonlyMap<string, string> {
    return new Map([...this.#read].flatMap(([path, source]) => (source ? [[path, source.text]] : [])));
  }

  isMain(node: Json): boolean {
    return this.places.fileOf(node) === this.file;
  }

  find(ref: string, from: string): Found {
    if (SCHEME.test(ref)) return lost(`${ref} is on the network: only files are read`);
    const [, path, fragment = ''] = /^([^#]*)(?:#(.*))?$/s.exec(ref)!;
    const [address, pointer] = [decoded(path!), decoded(fragment)];
    if (address === null || pointer === null) return lost(`${ref} is not a valid reference`);
    if (address !== '' && SCHEME.test(from))
      return lost(`${ref} is another file: a contract from a URL must be one file`);
    const file = address === '' ? from : join(dirname(from), address);
    try {
      const source = this.#source(file);
      if (!source) return { target: null, complaint: null };
      return foundAt(follow(source.root, pointer), ref);
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      return lost(`${ref} ${error.problems[0]!.message}`);
    }
  }

  /** `null` if the file is not valid YAML, which is reported once. @throws ContractError if it cannot be read. */
  #source(file: string): Source | null {
    const path = resolve(file);
    if (!this.#read.has(path)) this.#read.set(path, this.#parse(file));
    return this.#read.get(path)!;
  }

  #parse(file: string): Source | null {
    try {
      return readSource({ file }, this.places);
    } catch (error) {
      if (!(error instanceof ContractError) || error.problems.some(({ place }) => place === '')) throw error;
      for (const problem of error.problems) this.findings.add(problem);
      return null;
    }
  }
}

export const lost = (complaint: string): Found => ({ target: null, complaint });

export function foundAt(value: unknown, ref: string): Found {
  if (isObject(value)) return { target: value, complaint: null };
  return lost(value === undefined ? `${ref} does not exist` : `${ref} is not an object`);
}

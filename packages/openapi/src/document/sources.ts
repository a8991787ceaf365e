import { dirname, join, resolve } from 'node:path';
import { createFindings } from '../findings.ts';
import { pointerTo } from '../names.ts';
import { ContractError } from '../problems.ts';
import { Places } from './places.ts';
import {
  decoded,
  follow,
  isObject,
  type Json,
  readSource,
  type Source,
  type SourceFile,
} from './source.ts';

const SCHEME = /^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/\/)/;
const COMPONENT_NAME = /^[A-Za-z0-9._-]+$/;

/** The object, or a complaint; `null` if the loader has already reported the mistake. */
export type Found = Json | string | null;

/** The files of a contract. All their objects get a place in the main file. */
export class Sources {
  readonly file: string;
  readonly root: Json;
  readonly places = new Places();
  readonly findings = createFindings(this.places);
  /**
   * By absolute path; a complaint if the file cannot be read, and `null` if it is not valid, which
   * is reported once.
   */
  readonly #read = new Map<string, Source | string | null>();
  readonly #homes = new Map<Json, string>();

  /**
   * @throws ContractError if the main file cannot be read.
   */
  constructor(main: SourceFile) {
    const { file } = main;
    const source = readSource(main, this.places);
    if (!isObject(source.root))
      throw new ContractError([
        { file, place: '1:1', message: 'is not an OpenAPI document' },
      ]);
    this.file = file;
    this.root = source.root;
    this.#read.set(resolve(file), source);
  }

  get texts(): ReadonlyMap<string, string> {
    return new Map(
      [...this.#read].flatMap(([path, source]) =>
        isSource(source) ? [[path, source.text]] : [],
      ),
    );
  }

  isMain(node: Json): boolean {
    return this.places.fileOf(node) === this.file;
  }

  /** Whether a reference to its place in the main file leads to this object. */
  holds(node: Json): boolean {
    return (
      this.isMain(node) &&
      follow(this.root, pointerTo(this.places.origin(node).tokens)) === node
    );
  }

  find(ref: string, from: string): Found {
    if (SCHEME.test(ref)) return onNetwork(ref);
    const [, path, fragment = ''] = /^([^#]*)(?:#(.*))?$/s.exec(ref)!;
    const [address, pointer] = [decoded(path!), decoded(fragment)];
    if (address === undefined || pointer === undefined)
      return `${ref} is not a valid reference`;
    if (address !== '' && SCHEME.test(from))
      return `${ref} is another file: a contract from a URL must be one file`;
    const source = this.#source(
      address === '' ? from : join(dirname(from), address),
    );
    return isSource(source)
      ? foundAt(follow(source.root, pointer), ref)
      : source && `${ref} ${source}`;
  }

  #source(file: string): Source | string | null {
    const path = resolve(file);
    if (!this.#read.has(path)) this.#read.set(path, this.#parse(file));
    return this.#read.get(path)!;
  }

  #parse(file: string): Source | string | null {
    try {
      return readSource({ file }, this.places);
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      const unread = error.problems.find(({ place }) => place === '');
      if (unread) return unread.message;
      for (const problem of error.problems) this.findings.add(problem);
      return null;
    }
  }

  /**
   * The reference to an object in the main file, where `section` of `components` gets objects of
   * other files.
   */
  home(target: Json, section: string): string {
    let home = this.#homes.get(target);
    if (home === undefined) {
      const pointer = this.isMain(target)
        ? pointerTo(this.places.origin(target).tokens)
        : this.#move(target, section);
      home = `#${encodeURI(pointer)}`;
      this.#homes.set(target, home);
    }
    return home;
  }

  #move(target: Json, section: string): string {
    const { source, tokens } = this.places.origin(target);
    const last = String(
      tokens.at(-1) ??
        source.file.replace(/^.*[/\\]/, '').replace(/\.[^.]*$/, ''),
    );
    const all = member(member(this.root, 'components'), section);
    const name = freeName(all, COMPONENT_NAME.test(last) ? last : 'external');
    all[name] = target;
    return `/components/${section}/${name}`;
  }
}

export const isOnNetwork = (ref: unknown): boolean =>
  typeof ref === 'string' && SCHEME.test(ref);

export const onNetwork = (ref: string): string =>
  `${ref} is on the network: only files are read`;

export function foundAt(value: unknown, ref: string): Json | string {
  if (isObject(value)) return value;
  if (value === undefined) return `${ref} does not exist`;
  return value === null ? `${ref} is empty` : `${ref} is not an object`;
}

const isSource = (source: Source | string | null): source is Source =>
  typeof source === 'object' && source !== null;

function member(parent: Json, key: string): Json {
  if (!isObject(parent[key])) parent[key] = {};
  return parent[key] as Json;
}

function freeName(taken: Json, preferred: string): string {
  if (!Object.hasOwn(taken, preferred)) return preferred;
  for (let i = 2; ; i++)
    if (!Object.hasOwn(taken, `${preferred}_${i}`)) return `${preferred}_${i}`;
}

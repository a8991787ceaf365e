import { type Grammar, type Kind, sectionOf } from '../dialect/grammar.ts';
import { pointerTo } from '../names.ts';
import { isObject, type Json } from './source.ts';
import type { Sources } from './sources.ts';

const COMPONENT_NAME = /^[A-Za-z0-9._-]+$/;

export class Homes {
  readonly #root: Json;
  readonly #grammar: Grammar;
  readonly #sources: Sources;
  readonly #known = new Map<object, string>();

  constructor(root: Json, grammar: Grammar, sources: Sources) {
    this.#root = root;
    this.#grammar = grammar;
    this.#sources = sources;
  }

  of(target: Json, kind: Kind): string {
    const known = this.#known.get(target);
    if (known !== undefined) return known;
    const pointer = this.#sources.isMain(target)
      ? pointerTo(this.#sources.places.origin(target).tokens)
      : this.#move(target, sectionOf(this.#grammar, kind)!);
    const home = `#${encodeURI(pointer)}`;
    this.#known.set(target, home);
    return home;
  }

  #move(target: Json, section: string): string {
    const components = member(this.#root, 'components');
    const all = member(components, section);
    const name = freeName(all, this.#nameOf(target));
    all[name] = target;
    return `/components/${section}/${name}`;
  }

  #nameOf(target: Json): string {
    const { source, tokens } = this.#sources.places.origin(target);
    const name = String(tokens.at(-1) ?? source.file.replace(/^.*[/\\]/, '').replace(/\.[^.]*$/, ''));
    return COMPONENT_NAME.test(name) ? name : 'external';
  }
}

function member(parent: Json, key: string): Json {
  if (!isObject(parent[key])) parent[key] = {};
  return parent[key] as Json;
}

function freeName(taken: Json, wanted: string): string {
  if (!Object.hasOwn(taken, wanted)) return wanted;
  for (let i = 2; ; i++) if (!Object.hasOwn(taken, `${wanted}_${i}`)) return `${wanted}_${i}`;
}

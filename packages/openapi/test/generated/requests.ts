import { Bodies, type Body, syntaxOf, typeOf } from './bodies.ts';
import type { Described, Json, OpenApi, Parameter } from './document.ts';
import type { Random } from './random.ts';
import { isWritable, write } from './texts.ts';
import { Impossible, type Values } from './values.ts';

export interface Request {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly body: Body | null;
}

/** The share of optional parameters that are sent. */
const OPTIONAL = 0.5;

export class Requests {
  readonly #document: OpenApi;
  readonly #values: Values;
  readonly #random: Random;
  readonly #bodies: Bodies;

  constructor(document: OpenApi, values: Values, random: Random) {
    this.#document = document;
    this.#values = values;
    this.#random = random;
    this.#bodies = new Bodies(document);
  }

  /**
   * @throws Impossible if no valid value was found for a required part.
   */
  make({ method, path, parameters, body }: Described): Request {
    const texts = {
      path: new Map<string, string>(),
      query: [] as string[],
      header: [] as string[],
      cookie: [] as string[],
    };
    for (const parameter of parameters) {
      const text = this.#text(parameter);
      if (text === null) continue;
      if (parameter.in === 'path') texts.path.set(parameter.name, text);
      else if (parameter.in === 'header') texts.header.push(parameter.name, text);
      else texts[parameter.in].push(text);
    }
    const filled = path.replace(/\{([^{}]*)\}/g, (_all, name: string) => {
      const text = texts.path.get(name);
      if (text === undefined) throw new Impossible();
      return text;
    });
    if (this.#isOfAnother(path, filled)) throw new Impossible();
    const query = texts.query.length > 0 ? `?${texts.query.join('&')}` : '';
    const cookies = texts.cookie.length > 0 ? ['Cookie', texts.cookie.join('; ')] : [];
    const isThere = body !== null && (body.required || this.#random.chance(0.8));
    return {
      method,
      target: filled.replace(/[^!-~]/gu, encodeURIComponent) + query,
      headers: [...texts.header, ...cookies],
      body: isThere ? this.#body(body.content) : null,
    };
  }

  /** OpenAPI 3.0.3, "Path Templating Matching". */
  #isOfAnother(path: string, filled: string): boolean {
    const [own, sent] = [path.split('/'), filled.split('/')];
    return Object.keys(this.#document.root.paths as Json).some((other) => {
      const segments = other.split('/');
      const first = segments.findIndex((segment, i) => segment !== own[i]);
      return (
        segments.length === sent.length &&
        segments.every((segment, i) => segment.includes('{') || segment === sent[i]) &&
        first >= 0 &&
        !segments[first]!.includes('{')
      );
    });
  }

  #text(parameter: Parameter): string | null {
    if (!parameter.required && !this.#random.chance(OPTIONAL)) return null;
    try {
      return write(
        parameter,
        this.#values.make(parameter.schema, (value) => isWritable(parameter, value)),
      );
    } catch (error) {
      if (parameter.required || !(error instanceof Impossible)) throw error;
      return null;
    }
  }

  #body(content: Json): Body {
    const entries = Object.keys(content).filter((entry) => syntaxOf(typeOf(entry)) !== null);
    if (entries.length === 0) throw new Impossible();
    const entry = this.#random.of(entries);
    const type = typeOf(entry);
    const syntax = syntaxOf(type)!;
    const media = this.#document.follow(content[entry]);
    const schema = (media.schema ?? { type: syntax === 'json' ? 'object' : 'string' }) as Json;
    const value = this.#values.make(schema, (made) => this.#bodies.isWritable(syntax, media, made));
    return this.#bodies.write(type, syntax, media, value);
  }
}

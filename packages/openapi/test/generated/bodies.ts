import { isObject, type Json, listOf, type OpenApi } from './document.ts';
import { write } from './texts.ts';

export interface Body {
  readonly type: string;
  readonly bytes: Buffer;
}

export type Syntax = 'json' | 'form' | 'multipart' | 'text' | 'bytes';

/** A type for each range that documents use. */
const CHOSEN: Readonly<Record<string, string>> = {
  '*/*': 'application/json',
  'application/*': 'application/json',
  'text/*': 'text/plain',
  'image/*': 'image/png',
};

export const typeOf = (entry: string): string => CHOSEN[entry] ?? entry;

/** `null` for XML, which is not generated. */
export function syntaxOf(type: string): Syntax | null {
  const plain = type.split(';')[0]!.trim().toLowerCase();
  if (/\/json$|\+json$/.test(plain)) return 'json';
  if (/\/xml$|\+xml$/.test(plain)) return null;
  if (plain === 'application/x-www-form-urlencoded') return 'form';
  if (plain === 'multipart/form-data') return 'multipart';
  return plain.startsWith('text/') ? 'text' : 'bytes';
}

export class Bodies {
  readonly #document: OpenApi;

  constructor(document: OpenApi) {
    this.#document = document;
  }

  isWritable(syntax: Syntax, media: Json, value: unknown): boolean {
    if (syntax === 'json') return true;
    if (syntax === 'text') return typeof value === 'string' && value.isWellFormed();
    if (syntax === 'bytes') return typeof value === 'string' && /^[\x20-\x7e]*$/.test(value);
    if (!isObject(value)) return false;
    return Object.entries(value).every(([name, member]) => {
      const entries = Array.isArray(member) ? member : [member];
      if (entries.length === 0) return false;
      if (syntax === 'form') {
        const deep = this.#styleOf(media, name).style === 'deepObject';
        if (deep && !isObject(member)) return false;
        const inner = deep ? Object.values(member as Json) : entries;
        return inner.length > 0 && inner.every((entry) => typeof entry !== 'object');
      }
      const schema = this.#partSchema(media, name);
      return entries.every(
        (entry) =>
          entry !== null &&
          !Array.isArray(entry) &&
          (!this.#isFile(schema, entry) || /^[\x20-\x7e]*$/.test(String(entry))),
      );
    });
  }

  write(type: string, syntax: Syntax, media: Json, value: unknown): Body {
    if (syntax === 'json') return { type, bytes: Buffer.from(JSON.stringify(value)) };
    if (syntax === 'form') return { type, bytes: Buffer.from(this.#form(media, value as Json)) };
    if (syntax === 'multipart') return this.#multipart(type, media, value as Json);
    return { type, bytes: Buffer.from(String(value)) };
  }

  #form(media: Json, value: Json): string {
    return Object.entries(value)
      .map(([name, member]) => {
        const common = { name, in: 'query', required: true, schema: {}, document: false } as const;
        return write({ ...common, ...this.#styleOf(media, name) }, member);
      })
      .join('&');
  }

  #styleOf(media: Json, name: string): { readonly style: string; readonly explode: boolean } {
    const encoding = this.#encodingOf(media, name);
    const style = typeof encoding.style === 'string' ? encoding.style : 'form';
    return {
      style,
      explode: typeof encoding.explode === 'boolean' ? encoding.explode : style === 'form',
    };
  }

  #encodingOf(media: Json, name: string): Json {
    return this.#document.follow(isObject(media.encoding) ? media.encoding[name] : undefined);
  }

  /** RFC 7578; OpenAPI 3.0.3, "Special Considerations for multipart Content". */
  #multipart(type: string, media: Json, value: Json): Body {
    const boundary = '-=storegate-generated=-'.replaceAll('=', '');
    const parts = Object.entries(value).flatMap(([name, member]) =>
      (Array.isArray(member) ? member : [member]).map((entry) => this.#part(media, name, entry)),
    );
    const text = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('');
    return {
      type: `${type}; boundary=${boundary}`,
      bytes: Buffer.from(`${text}--${boundary}--\r\n`),
    };
  }

  #part(media: Json, name: string, value: unknown): string {
    const binary = this.#isFile(this.#partSchema(media, name), value);
    const { contentType } = this.#encodingOf(media, name);
    const usual = binary ? 'application/octet-stream' : isObject(value) ? 'application/json' : null;
    const type =
      typeof contentType === 'string' ? typeOf(contentType.split(',')[0]!.trim()) : usual;
    const file = binary ? '; filename="file.bin"' : '';
    const head = `Content-Disposition: form-data; name="${name}"${file}\r\n${type ? `Content-Type: ${type}\r\n` : ''}`;
    return `${head}\r\n${isObject(value) ? JSON.stringify(value) : String(value)}`;
  }

  #isFile(schema: Json, value: unknown): boolean {
    const { format, contentMediaType, contentEncoding } = schema;
    if (typeof value !== 'string') return false;
    if (format === 'binary') return true;
    if (
      typeof contentMediaType === 'string' &&
      contentEncoding === undefined &&
      this.#document.isModern
    )
      return !/^text\/|json$|xml$/.test(contentMediaType);
    const alternatives = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
    return alternatives.some((one) => this.#isFile(this.#document.follow(one), value));
  }

  #partSchema(media: Json, name: string): Json {
    const properties = this.#document.follow(media.schema).properties;
    const schema = this.#document.follow(isObject(properties) ? properties[name] : undefined);
    const lists = [schema, ...listOf(schema.anyOf), ...listOf(schema.oneOf)].map((one) =>
      this.#document.follow(one),
    );
    const { items } = lists.find((list) => isObject(list.items)) ?? {};
    return items === undefined ? schema : this.#document.follow(items);
  }
}

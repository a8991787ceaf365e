import type { Schema as ReadSchema } from '../src/config/schema/schema.ts';

/** Of settings or of the admin API, with keywords that no code of the gateway reads. */
export interface Schema extends ReadSchema {
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly example?: unknown;
  /** OpenAPI 3.0. */
  readonly nullable?: boolean;
}

/** What it says to people, as a sentence. */
export function proseOf({ title, description }: Schema): string {
  const text = description ?? title ?? '';
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The last part of a `$ref`. */
export function nameIn(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

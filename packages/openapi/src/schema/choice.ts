import type { Json } from '../document/source.ts';
import { allowed } from './assertions.ts';
import type { Translated } from './definitions.ts';
import type { Kinds } from './polymorphism.ts';

export function choiceOf(
  { keyword, property, alternatives, decides }: Kinds,
  translate: (alternative: Json) => Translated,
): Translated {
  const is = (these: readonly unknown[]) => ({ [property]: { among: allowed(these) } });
  const parts = alternatives.map(({ schema, values }) => ({ values, fit: translate(schema) }));
  const one = {
    type: 'object',
    required: [property],
    properties: is(alternatives.flatMap(({ values }) => values)),
  };
  const cases = parts
    .filter(({ values }) => values.length > 0)
    .map(({ values, fit }) => ({
      if: { required: [property], properties: is(values) },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: fit,
    }));
  if (decides) return { ...one, allOf: cases };
  // After the last `else`, no alternative matches, not even the one that the value selects.
  const all = parts.map(({ fit }) => fit);
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  const none = { if: one, then: { allOf: cases }, else: { [keyword]: all } };
  if (keyword === 'anyOf') return { if: { anyOf: all }, else: none };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  return { if: { oneOf: all }, else: { if: { anyOf: all }, then: { oneOf: all }, else: none } };
}

import type { Json } from '../document/source.ts';
import type { Findings } from '../findings.ts';
import type { Direction } from '../schema/translate.ts';
import type { MediaRule, MediaRules, Syntax } from './rules.ts';
import { syntaxOf } from './rules.ts';
import { isUtf8Type, type MediaType, parseMediaType } from './type.ts';

/** The media types of a body, and the rule for each. */
export interface Content {
  /** The media types as the contract writes them. */
  readonly accepted: readonly string[];
  /** The rule for a Content-Type; `null` if the contract has none for it, or it is not in UTF-8. */
  media(contentType: string | undefined): MediaRule | null;
}

/** One entry of a `content` map. */
interface Entry {
  readonly range: MediaType;
  readonly weight: number;
  readonly rules: ReadonlyMap<Syntax, MediaRule>;
}

/** The usual spellings of UTF-8 in a Content-Type. */
const SUFFIXES = ['', '; charset=utf-8', ';charset=utf-8', '; charset=UTF-8', ';charset=UTF-8'];

/** Reads a `content` map and reports wrong media types in it. */
export function createContent(content: Json, direction: Direction, rules: MediaRules, findings: Findings): Content {
  const entries: Entry[] = [];
  for (const type of Object.keys(content)) {
    const range = parseMediaType(type);
    if (range) entries.push({ range, weight: weightOf(range), rules: rulesOf(content, type, range, direction, rules) });
    else findings.problem(content, type, `${type} is not a media type`);
  }
  entries.sort((a, b) => b.weight - a.weight);
  const accepted = Object.keys(content);
  const choose = (contentType: string) => chooseRule(entries, parseMediaType(contentType));
  const usual = new Map(
    accepted.flatMap((type) => SUFFIXES.map((suffix) => [type + suffix, choose(type + suffix)] as const)),
  );
  return {
    accepted,
    media(contentType) {
      if (contentType === undefined) return null;
      const known = usual.get(contentType);
      return known === undefined ? choose(contentType) : known;
    },
  };
}

/** A range covers types of every syntax, so it has a rule for each. */
function rulesOf(
  content: Json,
  type: string,
  range: MediaType,
  direction: Direction,
  rules: MediaRules,
): Map<Syntax, MediaRule> {
  const all: readonly Syntax[] = range.subtype === '*' ? ['json', 'form', 'text', 'unknown'] : [syntaxOf(range)];
  return new Map(all.map((syntax) => [syntax, rules.rule(content, type, syntax, direction)]));
}

/** A more specific range comes first. */
function weightOf({ type, subtype, parameters }: MediaType): number {
  return (type === '*' ? 0 : 1000) + (subtype === '*' ? 0 : 1000) + parameters.size;
}

function chooseRule(entries: readonly Entry[], type: MediaType | null): MediaRule | null {
  const entry = type && entries.find(({ range }) => covers(range, type));
  if (!entry) return null;
  const syntax = syntaxOf(type);
  if (syntax !== 'unknown' && !isUtf8Type(type)) return null;
  return entry.rules.get(syntax) ?? null;
}

/** Ignores `charset`: the gateway reads only UTF-8 anyway. */
function covers(range: MediaType, type: MediaType): boolean {
  if (range.type !== '*' && range.type !== type.type) return false;
  if (range.subtype !== '*' && range.subtype !== type.subtype) return false;
  return [...range.parameters].every(([name, value]) => name === 'charset' || type.parameters.get(name) === value);
}

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse, stringify } from 'yaml';
import { parseDuration } from '../../src/limits/notation.ts';
import { ruleFiles } from './shipped.ts';

const FACTOR = 40;
/** Milliseconds of `for`: no fault of a test lasts longer. */
const LONGEST = 10_000;

const DURATION = /\d+(?:ms|[smhd])/g;
/** A range, a range with a resolution, or an offset. */
const WINDOW = /\[[^\]]+\]|\boffset \w+/g;

interface Rule {
  readonly expr: string;
  readonly for?: string;
}

/** The shipped rule files by name, with shorter `for` and windows, and otherwise unchanged. */
export function shortRules(): Record<string, string> {
  const texts = ruleFiles.map((file) => {
    const { groups } = parse(readFileSync(file, 'utf8')) as {
      groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
    };
    const short = groups.map((group) => ({ ...group, rules: group.rules.map(shortRule) }));
    return [basename(file), stringify({ groups: short })];
  });
  return Object.fromEntries(texts);
}

export function shortRule<R extends Rule>(rule: R): R {
  const expr = rule.expr.replace(WINDOW, (window) =>
    window.replace(DURATION, (text) => shorter(text)),
  );
  return { ...rule, expr, ...(rule.for && { for: shorter(rule.for, LONGEST) }) };
}

const shorter = (text: string, longest = Number.POSITIVE_INFINITY): string =>
  `${Math.min(parseDuration(text)! / FACTOR, longest)}ms`;

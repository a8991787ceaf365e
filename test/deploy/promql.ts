export interface Selector {
  readonly metric: string;
  readonly matchers: readonly {
    readonly label: string;
    readonly operator: string;
    readonly value: string;
  }[];
}

export interface Names {
  readonly selectors: readonly Selector[];
  readonly groupings: readonly string[];
}

const TOKEN =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\]|[a-zA-Z_:][\w:]*|\d[\w.]*|[=!]~|[=!<>]=|[-+*/%^=<>(){},@]/g;
const TAKES_LABELS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const FOLLOW_FUNCTIONS = new Set<string | undefined>(['(', 'by', 'without']);
const WORDS = new Set(['and', 'or', 'unless', 'offset', 'bool']);

/**
 * Finds the names in a valid PromQL expression; checks nothing else. Throws on unknown syntax, so
 * that it misses nothing.
 */
export function namesIn(expression: string): Names {
  const tokens: readonly string[] = expression.match(TOKEN) ?? [];
  const unread = expression.replaceAll(TOKEN, '').trim();
  if (unread !== '') throw new Error(`cannot read ${unread} in: ${expression}`);
  const selectors: Selector[] = [];
  const groupings: string[] = [];

  function inside(start: number, close: string): string[] {
    return tokens.slice(start + 1, tokens.indexOf(close, start));
  }

  for (let i = 0; i < tokens.length; i++) {
    const [token, next] = [tokens[i]!, tokens[i + 1]];
    if (!/^[a-zA-Z_:]/.test(token) || WORDS.has(token)) continue;
    if (TAKES_LABELS.has(token)) {
      if (next !== '(') continue;
      const labels = inside(i + 1, ')');
      groupings.push(...labels.filter((label) => label !== ','));
      i += labels.length + 2;
    } else if (next === '{') {
      const matchers = inside(i + 1, '}');
      selectors.push({ metric: token, matchers: matchersOf(matchers) });
      i += matchers.length + 2;
    } else if (!FOLLOW_FUNCTIONS.has(next)) {
      selectors.push({ metric: token, matchers: [] });
    }
  }
  return { selectors, groupings };
}

function matchersOf(tokens: readonly string[]): Selector['matchers'] {
  const matchers: Selector['matchers'][number][] = [];
  for (let i = 0; i < tokens.length; i += 4) {
    matchers.push({
      label: tokens[i]!,
      operator: tokens[i + 1]!,
      value: tokens[i + 2]!.slice(1, -1),
    });
  }
  return matchers;
}

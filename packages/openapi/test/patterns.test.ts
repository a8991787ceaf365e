import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import { TooLarge } from '../src/patterns/automaton.ts';
import { createCharacters, includes } from '../src/patterns/characters.ts';
import { createMatcher } from '../src/patterns/matcher.ts';
import {
  BoundlessPattern,
  compilePattern as compile,
  type Pattern,
} from '../src/patterns/pattern.ts';
import { parse } from '../src/patterns/syntax.ts';
import { inSteps } from '../src/schema/pauses.ts';

interface PublicPattern {
  readonly from: string;
  readonly pattern: string;
  readonly match: readonly string[];
  readonly differ: readonly string[];
  /** A part of the message. */
  readonly refused?: string;
}

const bySource = parseYaml(
  readFileSync(join(import.meta.dirname, 'fixtures/patterns.yaml'), 'utf8'),
);

const PUBLIC = Object.entries(
  bySource as Record<string, readonly Omit<PublicPattern, 'from'>[]>,
).flatMap(([from, rows]) => rows.map((row): PublicPattern => ({ ...row, from })));

/** Only allowed if no text can make the engine slow. */
const native = (source: string): boolean => compile(source) instanceof RegExp;

const oneOf = (words: string) => fc.constantFrom(...words.split(' '));

test.each([
  'abc',
  '^[A-Z]{2}-[0-9]{4}$',
  '^[0-9a-f]{8}-[0-9a-f]{4}$',
  '^\\d+(\\.\\d+)?$',
  '^[a-z]+(-[a-z]+)*$',
  '^(?:[0-9]{1,3}\\.){3}[0-9]{1,3}$',
  '^\\p{Lu}\\p{Ll}*$',
  '^[\\s\\S]{1,5000}$',
  '(a|b|ab)(c|bcd)',
  '[0-9]{4}',
  '\\bword\\b',
  '^(?=a)b',
])('leaves %s to the engine', (source) => {
  expect(native(source)).toBe(true);
});

describe('patterns that could make the engine try for ever', () => {
  test.each([
    ['^(a+)+$', 'a'],
    ['^(a*)*$', 'a'],
    ['^(a|a)*$', 'a'],
    ['^(a|aa)+$', 'a'],
    ['^(a?){20}$', 'a'],
    ['^((a?|b?)c)*$', 'c'],
    ['^\\w+([.-]?\\w+)*@\\w+([.-]?\\w+)*(\\.\\w{2,3})+$', 'a'],
    ['^\\s*(.*)\\s*x$', ' '],
    ['[0-9]+x', '1'],
    ['\\d+-\\d+-\\d+', '1'],
    ['^(?=.*[A-Z])(?=.*\\d)(?!.*\\s).{8,}$', 'a'],
    ['(.*)*x', 'a'],
    ['^([a-z]{1,30}){1,10}$', 'a'],
  ])('%s are matched in linear time', (source, character) => {
    expect(native(source)).toBe(false);
    expect(compile(source).test(`${character.repeat(20_000)}!`)).toBe(
      new RegExp(source, 'u').test(`${character.repeat(5)}!`),
    );
  });

  test('are refused if they refer to what they read before', () => {
    const message = 'needs a back-reference: its time cannot be bounded';
    expect(() => compile('^(a+)+\\1$')).toThrow(new BoundlessPattern(message));
    expect(native('(a|b)\\1')).toBe(true);
  });

  test.each([
    '(a|b|ab){1,9999}x',
    '((a{1,99}b){1,99}c){1,99}(?=d)',
    `${Array.from({ length: 33 }, (_, i) => `(?=a{${i}})`).join('')}a*`,
    `^(?:${Array.from({ length: 4000 }, (_, i) => `${i}`).join('|')})+\\b`,
  ])('are refused if they are too large (%#)', (source) => {
    const message = 'is too large: each character of a text would take too much time';
    expect(() => compile(source)).toThrow(new BoundlessPattern(message));
  });

  test('may end with any number', () => {
    expect(compile('[ab][^]{2,131072}').test('xaxx')).toBe(true);
    expect(compile('(?=a.{1,99999})[^]{1,99999}').test('a')).toBe(false);
  });

  test('with an empty repetition do not count it', () => {
    expect(compile('a(?:){99999999}(?=b)').test('ab')).toBe(true);
  });
});

describe('patterns of real documents', () => {
  test('97 of 100 load', () => {
    expect(PUBLIC).toHaveLength(100);
    expect(PUBLIC.filter(({ refused }) => refused !== undefined)).toHaveLength(3);
  });

  test.each(PUBLIC)('$from: $pattern', ({ pattern: source, match, differ, refused }) => {
    if (refused !== undefined) {
      expect(() => compile(source)).toThrow(refused);
      return;
    }
    const pattern = compile(source);
    expect([...match, ...differ].filter((text) => pattern.test(text))).toEqual(match);
  });
});

describe('a text that needs a new state for each character', () => {
  let seed = 1;
  const letters = Array.from({ length: 120_000 }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed > 2 ** 30 ? 'a' : 'b';
  });
  const text = letters.join('');

  test('is matched, and so is a short one after it', () => {
    const pattern = compile('(a|b)*a(a|b){80}c');
    const long = [text, `${text}a${'b'.repeat(80)}c`, `${text}ac`];
    expect(long.map((one) => pattern.test(one))).toEqual([false, true, false]);
    expect([`a${'b'.repeat(80)}c`, `a${'b'.repeat(79)}c`].map((one) => pattern.test(one))).toEqual([
      true,
      false,
    ]);
  });

  test('pays for one remembered state with 16 characters, so its states do not fill the memory', () => {
    const pattern = compile('(a|b)*a(a|b){80}c');
    const remembered = jest.spyOn(Map.prototype, 'set');
    try {
      pattern.test(text);
      expect(remembered.mock.calls.length).toBeGreaterThan(0);
      expect(remembered.mock.calls.length).toBeLessThanOrEqual(text.length / 16);
    } finally {
      remembered.mockRestore();
    }
  });

  test.each([
    ['(a|b)*a(a|b){80}c', 'a'.repeat(81), 'c', 'b'],
    ['^(?=[^]*d$)(?![^]*e)(?:a|b|ab)*\\Bc(?<=a[ab]{80}c)d$', 'a'.repeat(81), 'cd', 'ce'],
  ])('is matched in steps between which %s reads others', (source, before, match, differ) => {
    const pattern = compile(source);
    const other = `${text.slice(0, 2000)}${before}${differ}`;
    for (const end of [match, differ]) {
      const steps = inSteps(() => pattern.test(text.slice(0, 10_000) + before + end));
      const others: boolean[] = [];
      let step = steps.next();
      for (; !step.done; step = steps.next()) others.push(pattern.test(other));
      expect([end, step.value]).toEqual([end, end === match]);
      expect(others.length).toBeGreaterThan(5);
      expect(others).not.toContain(true);
    }
  });
});

test.each([
  ['(?<=🐶)a+$', ['🐶a', 'b🐶aa'], ['a', '🐕a']],
  ['^\\w+(?=🐶)(?!🐶b)', ['ab🐶', 'a🐶c'], ['ab', 'a🐶b', '\udc36🐶']],
  ['(?<!🐶.)b+', ['b', 'a🐶b'], ['🐶ab', '🐶🐶b']],
  ['(?<=^|\\B🐶)x*y', ['y', '🐶🐶y'], ['ay', 'a🐶y']],
])('%s reads a character of two code units as one', (source, match, differ) => {
  expect([...match, ...differ].filter((text) => compile(source).test(text))).toEqual(match);
});

test.each([
  '(',
  '[',
  '\\i',
  '(?\\:a)',
  '\\A\\@',
  'a{2,1}',
  '^{2}',
  '(?<n>a)(?<n>b)',
  '\\p{Nope}',
  'a(?i)b',
  '(?i)(',
  '(?m)a',
])('refuses %s, which is not valid', (source) => {
  expect(() => compile(source)).toThrow(/^is not valid with the u flag: /);
});

describe('spellings that only engines without the u flag take', () => {
  test.each([
    ['^[a-z\\@\\%\\-]+\\@[a-z\\:\\ ]*\\-$', 'a-@ :-', 'a-@_-'],
    ['^\\"\\\'\\`\\#$', '"\'`#', '\\"'],
    ['^[\\w\\_\\.]\\_$', '__', '_-'],
    ['^([\\!\\<]|\\&)\\;$', '&;', '@;'],
    ['^[\\-a]\\~$', '-~', 'b~'],
    ['^(\\@+)+$', '@@', '@a'],
    ['^[\\w-.]+$', 'a-.b', 'a,b'],
    ['^[+-\\d]+$', '+-7', '+,7'],
    ['^[\\s-a-z-]+$', ' a-z', 'b'],
    ['^{a}+$', '{a}}', 'a'],
    ['^[]+]+$|^]$', ']', '+'],
    ['^x{,3}$', 'x{,3}', 'xx'],
    ['^a{1\\,2}{2}$', 'a{1,2}}', 'aa'],
  ])('%s', (source, good, bad) => {
    for (const text of [good, bad])
      expect([text, compile(source).test(text)]).toEqual([text, text === good]);
    expect(() => new RegExp(source, 'u')).toThrow(SyntaxError);
  });

  const odd = oneOf(
    '[\\w-.] [%-\\d] [\\d-a-z] [-\\w-] [@-a\\--:] [^\\W-@] { } ] {a} {,1} a{1} [{}] [^]] []',
  );

  test('mean what they mean without the flag', () => {
    const escaped = oneOf('a \\@ \\- [\\@a] [\\-@] [^\\%] (?:\\%|a) [a\\-\\:]');
    const part = fc.oneof(escaped, { weight: 2, arbitrary: odd });
    const text = fc.string({ unit: fc.constantFrom(...'a@-%:\\{}],1'), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), text, (parts, sample) => {
        const source = `^${parts.join('')}$`;
        fc.pre(isRegExp(source));
        const expected = new RegExp(source).test(sample);
        expect([source, compile(source).test(sample)]).toEqual([source, expected]);
      }),
      { numRuns: 500 },
    );
  });
});

function isRegExp(source: string): boolean {
  try {
    return new RegExp(source) !== null;
  } catch {
    return false;
  }
}

const character = oneOf('a b [ab] [^a] . \\w \\p{L} \\. 🐶 [🐶a-b] \\u{1f436} \\x61 -');
/** Mostly none. */
const quantifiers = fc.oneof(
  { weight: 1, arbitrary: fc.constant('') },
  { weight: 3, arbitrary: oneOf('* + ? *? {2} {1,2} {0,3} {2,} {0}') },
);

const patternsOf = (atoms: fc.Arbitrary<string>): fc.Arbitrary<string> => {
  const sequence = fc
    .array(fc.tuple(atoms, quantifiers), { maxLength: 3 })
    .map((parts) => parts.flat().join(''));
  return fc.array(sequence, { minLength: 1, maxLength: 2 }).map((options) => options.join('|'));
};

const group = (inner: fc.Arbitrary<string>) =>
  fc.tuple(fc.constantFrom('(', '(?:'), inner).map(([open, source]) => `${open}${source})`);

const sources = patternsOf(
  fc.oneof(character, group(patternsOf(fc.oneof(character, group(patternsOf(character)))))),
);

const texts = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', '.', '-', '🐶', '\n'),
  maxLength: 10,
});

const apart = createContext({});

/** `null` if the engine would not end. */
function engineFinds(source: string, text: string): boolean | null {
  try {
    const call = `new RegExp(${JSON.stringify(source)}, 'u').test(${JSON.stringify(text)})`;
    return runInContext(call, apart, { timeout: 200 }) as boolean;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
    throw error;
  }
}

test('finds what the engine finds', () => {
  const anchored = fc.tuple(fc.boolean(), sources, fc.boolean());
  fc.assert(
    fc.property(
      anchored,
      fc.array(texts, { minLength: 5, maxLength: 5 }),
      ([start, source, end], samples) => {
        const whole = `${start ? '^' : ''}(?:${source})${end ? '$' : ''}`;
        const pattern = compile(whole);
        for (const text of samples) {
          const ours = pattern.test(text);
          expect([whole, text, ours]).toEqual([whole, text, engineFinds(whole, text) ?? ours]);
        }
      },
    ),
    { numRuns: 500 },
  );
});

/**
 * With the flags around it: a pattern, and one with the same meaning that has no groups with flags.
 */
type Spelt = (flags: string) => readonly [source: string, plain: string];

const LINE_ENDS = '\\n\\r\\u2028\\u2029';

const spelt =
  (source: string, flag: string, plain: string): Spelt =>
  (flags) => [source, flags.includes(flag) ? plain : source];

const joined = (parts: readonly Spelt[], separator: string): Spelt => {
  return (flags) => {
    const all = parts.map((part) => part(flags));
    return [
      all.map(([source]) => source).join(separator),
      all.map(([, plain]) => plain).join(separator),
    ];
  };
};

function grouped(
  [on, off]: readonly [string, string],
  opening: string,
  inner: Spelt,
  closing: string,
): Spelt {
  return (flags) => {
    const changed = [...flags, ...on].filter((flag) => !off.includes(flag)).join('');
    const [source, plain] = inner(changed);
    const flagged = on + off === '' ? opening : `(?${on}${off && '-'}${off}:`;
    return [`${flagged}${source}${closing}`, `${opening}${plain}${closing}`];
  };
}

const readers = fc.constantFrom(
  spelt('a', 'i', '[aA]'),
  spelt('K', 'i', '[kK]'),
  spelt('[ab]', 'i', '[abAB]'),
  spelt('[^a]', 'i', '[^aA]'),
  spelt('.', 's', '[^]'),
  ...['\\w', '\\W', '\\s', 'é', '-', '\\n'].map((source) => spelt(source, '-', source)),
);

const assertions = fc.constantFrom(
  spelt('^', 'm', `(?<![^${LINE_ENDS}])`),
  spelt('$', 'm', `(?![^${LINE_ENDS}])`),
  spelt('\\b', '-', '\\b'),
  spelt('\\B', '-', '\\B'),
);

/** Those that a group sets, and those that it clears. */
const FLAGS = [
  ['', ''],
  ['i', ''],
  ['s', 'm'],
  ['im', 's'],
  ['', 'i'],
] as const;

const { pattern: everything } = fc.letrec<{ pattern: Spelt; sequence: Spelt; part: Spelt }>(
  (tie) => ({
    pattern: fc
      .array(tie('sequence'), { minLength: 1, maxLength: 2 })
      .map((options) => joined(options, '|')),
    sequence: fc.array(tie('part'), { maxLength: 3 }).map((parts) => joined(parts, '')),
    part: fc.oneof(
      { depthSize: 'small' },
      fc
        .tuple(readers, quantifiers)
        .map(([reader, quantifier]) => grouped(['', ''], '', reader, quantifier)),
      assertions,
      fc
        .tuple(fc.constantFrom(...FLAGS), tie('pattern'), quantifiers)
        .map(([flags, inner, quantifier]) => grouped(flags, '(?:', inner, `)${quantifier}`)),
      fc
        .tuple(fc.constantFrom('(?=', '(?!', '(?<=', '(?<!'), tie('pattern'))
        .map(([opening, inner]) => grouped(['', ''], opening, inner, ')')),
    ),
  }),
);

test('reads assertions and groups with flags like the engine', () => {
  // V8 also tries to match between the two code units of a character.
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', 'A', 'k', '-', 'é', '\n', '\u2028', ' '),
    maxLength: 8,
  });
  fc.assert(
    fc.property(everything, fc.array(text, { minLength: 4, maxLength: 4 }), (spelling, samples) => {
      const [source, plain] = spelling('');
      const ours = matched(source);
      for (const sample of ours ? samples : []) {
        const found = ours!.test(sample);
        expect([source, sample, found]).toEqual([
          source,
          sample,
          engineFinds(plain, sample) ?? found,
        ]);
      }
    }),
    { numRuns: 600 },
  );
});

/** By the automaton, whatever the engine could do; `null` if too large. */
function matched(source: string): Pattern | null {
  try {
    return createMatcher(parse(source, ''));
  } catch (error) {
    if (error instanceof TooLarge) return null;
    throw error;
  }
}

describe('a leading (?i)', () => {
  test('is the flag', () => {
    expect(native('(?i)^[a-z]+-x$')).toBe(true);
    expect(['Ab-X', 'ab-y'].map((text) => compile('(?i)^[a-z]+-x$').test(text))).toEqual([
      true,
      false,
    ]);
    expect(native('(?i)(k+)+$')).toBe(false);
    expect(compile('(?i)^(k+)+$').test('kK\u212a')).toBe(true);
    expect(compile('(?i)^[\\w-.]+$').test('A-.')).toBe(true);
  });

  test('makes every other part of the pattern what the engine makes of it', () => {
    const part = oneOf('a K ß ſ Σ [a-f] [^a] \\w \\W . ǆ \\p{Lu} 1');
    const source = fc.array(fc.tuple(part, fc.constantFrom('', '+', '?')), {
      minLength: 1,
      maxLength: 4,
    });
    const text = fc.string({ unit: fc.constantFrom(...'aAkKsS\u212aßẞſςσΣǅǆ1.'), maxLength: 6 });
    fc.assert(
      fc.property(source, text, (parts, text) => {
        const inner = `^(?:${parts.flat().join('')})+$`;
        const expected = new RegExp(inner, 'ui').test(text);
        expect([inner, text, compile(`(?i)${inner}`).test(text)]).toEqual([inner, text, expected]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a class stands for the characters that the engine takes for it', () => {
  const characters = createCharacters('');
  /** The edges of usual ranges, of the surrogates, of the first plane and of Unicode. */
  const EDGES = [0, 0x7f, 0x80, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff];

  function agrees(source: string, extra: readonly number[]): void {
    const set = characters.of(source);
    const probes = [
      ...EDGES,
      ...Array(0x100).keys(),
      ...extra,
      ...set.flatMap(([from, to]) => [from - 1, from, to, to + 1]),
    ];
    const engine = new RegExp(`^${source}$`, 'u');
    for (const probe of probes.filter(
      (c) => c >= 0 && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff),
    )) {
      expect([source, probe, includes(set, probe)]).toEqual([
        source,
        probe,
        engine.test(String.fromCodePoint(probe)),
      ]);
    }
  }

  test.each([
    '.',
    '\\d',
    '\\W',
    '\\s',
    '\\p{Lu}',
    '[]',
    '[^]',
    '[^a]',
    '[^\\d-]',
    '[\\]\\\\]',
    '[^\\^]',
    '[\ud7ff]',
    '[^\u{10ffff}]',
  ])('%s', (source) => agrees(source, []));

  test('whatever is named in it', () => {
    const sign = fc.oneof(
      fc.integer({ min: 0x20, max: 0x2ff }),
      fc.constantFrom(...EDGES.slice(3), 0x2028, 0x1f600),
    );
    const named = (c: number) =>
      (/[\^$\\.*+?()[\]{}|/-]/.test(String.fromCodePoint(c)) ? '\\' : '') + String.fromCodePoint(c);
    const member = fc.oneof(
      sign.map((c) => ({ text: named(c), ends: [c] })),
      fc.tuple(sign, sign).map((pair) => {
        const [from, to] = pair.sort((a, b) => a - b);
        return { text: `${named(from)}-${named(to)}`, ends: [from, to] };
      }),
    );
    fc.assert(
      fc.property(fc.boolean(), fc.array(member, { maxLength: 4 }), (negated, members) => {
        const ends = members.flatMap(({ ends }) => ends);
        agrees(
          `[${negated ? '^' : ''}${members.map(({ text }) => text).join('')}]`,
          ends.flatMap((c) => [c - 1, c, c + 1]),
        );
      }),
      { numRuns: 60 },
    );
  });
});

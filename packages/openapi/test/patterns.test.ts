import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Characters, includes } from '../src/patterns/characters.ts';
import { compilePattern as compile, PatternError } from '../src/patterns/pattern.ts';

/** Only allowed if no text can make the engine slow. */
const native = (source: string): boolean => compile(source) instanceof RegExp;

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

  test.each([
    ['^(a+)+\\1$', 'a back-reference'],
    ['(?<=a+)b+', 'a look-behind'],
    ['a+(?=b+c)d', 'a look-ahead that is neither at the start nor at the end'],
    ['a+(?!b+)', 'a look-ahead that is neither at the start nor at the end'],
    ['a+(?!bc|d)', 'a look-ahead that is neither at the start nor at the end'],
    ['^(\\w+\\b\\s?)+$', '\\b'],
    ['(?i:a+)+', 'a group with flags'],
  ])('%s is refused, because it needs what no automaton can do', (source, what) => {
    expect(() => compile(source)).toThrow(
      new PatternError(
        `needs ${what} beside a repetition that can be read in several ways: its time cannot be bounded`,
      ),
    );
  });

  test('are refused when they are too large', () => {
    expect(() => compile('(a|b|ab){1,1000}x')).toThrow(new PatternError('is too large: its time cannot be bounded'));
  });
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
    for (const text of [good, bad]) expect([text, compile(source).test(text)]).toEqual([text, text === good]);
    expect(() => new RegExp(source, 'u')).toThrow(SyntaxError);
  });

  const ODD = [
    '[\\w-.]',
    '[%-\\d]',
    '[\\d-a-z]',
    '[-\\w-]',
    '[@-a\\--:]',
    '[^\\W-@]',
    '{',
    '}',
    ']',
    '{a}',
    '{,1}',
    'a{1}',
    '[{}]',
    '[^]]',
    '[]',
  ];

  test('mean what they mean without the flag', () => {
    const part = fc.constantFrom('a', '\\@', '\\-', '[\\@a]', '[\\-@]', '[^\\%]', '(?:\\%|a)', '[a\\-\\:]', ...ODD);
    const text = fc.string({
      unit: fc.constantFrom('a', '@', '-', '%', ':', '\\', '{', '}', ']', ',', '1'),
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), text, (parts, sample) => {
        const source = `^${parts.join('')}$`;
        fc.pre(isRegExp(source));
        expect([source, compile(source).test(sample)]).toEqual([source, new RegExp(source).test(sample)]);
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

const character = fc.constantFrom(
  'a',
  'b',
  '[ab]',
  '[^a]',
  '.',
  '\\w',
  '\\p{L}',
  '\\.',
  '🐶',
  '[🐶a-b]',
  '\\u{1f436}',
  '\\x61',
  '-',
);

const patternsOf = (atoms: fc.Arbitrary<string>): fc.Arbitrary<string> => {
  const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '*?', '{2}', '{1,2}', '{0,3}', '{2,}');
  const sequence = fc.array(fc.tuple(atoms, quantifier), { maxLength: 3 }).map((parts) => parts.flat().join(''));
  return fc.array(sequence, { minLength: 1, maxLength: 2 }).map((options) => options.join('|'));
};

const group = (inner: fc.Arbitrary<string>) =>
  fc.tuple(fc.constantFrom('(', '(?:'), inner).map(([open, source]) => `${open}${source})`);

const sources = patternsOf(fc.oneof(character, group(patternsOf(fc.oneof(character, group(patternsOf(character)))))));

const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.', '-', '🐶', '\n'), maxLength: 10 });

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
    fc.property(anchored, fc.array(texts, { minLength: 5, maxLength: 5 }), ([start, source, end], samples) => {
      const whole = `${start ? '^' : ''}(?:${source})${end ? '$' : ''}`;
      const pattern = compile(whole);
      for (const text of samples) {
        const ours = pattern.test(text);
        expect([whole, text, ours]).toEqual([whole, text, engineFinds(whole, text) ?? ours]);
      }
    }),
    { numRuns: 500 },
  );
});

test('reads a look-ahead at the end like the engine', () => {
  const row = fc.array(character, { minLength: 1, maxLength: 3 }).map((all) => all.join(''));
  const ahead = fc.oneof(
    row.map((text) => `(?!${text})`),
    sources.map((source) => `(?=${source})`),
    fc.constantFrom('(?!$)', '(?=$)', '(?!a$)', '(?=(?!a)|b(?!$))'),
  );
  fc.assert(
    fc.property(fc.constantFrom('', '^'), sources, ahead, texts, (start, source, end, text) => {
      const whole = `${start}(?:${source})${end}`;
      const ours = compile(whole).test(text);
      expect([whole, text, ours]).toEqual([whole, text, engineFinds(whole, text) ?? ours]);
    }),
    { numRuns: 500 },
  );
});

describe('a leading (?i)', () => {
  test('is the flag', () => {
    expect(native('(?i)^[a-z]+-x$')).toBe(true);
    expect(['Ab-X', 'ab-y'].map((text) => compile('(?i)^[a-z]+-x$').test(text))).toEqual([true, false]);
    expect(native('(?i)(k+)+$')).toBe(false);
    expect(compile('(?i)^(k+)+$').test('kK\u212a')).toBe(true);
    expect(compile('(?i)^[\\w-.]+$').test('A-.')).toBe(true);
  });

  test('makes every other part of the pattern what the engine makes of it', () => {
    const part = fc.constantFrom('a', 'K', 'ß', 'ſ', 'Σ', '[a-f]', '[^a]', '\\w', '\\W', '.', 'ǆ', '\\p{Lu}', '1');
    const source = fc.array(fc.tuple(part, fc.constantFrom('', '+', '?')), { minLength: 1, maxLength: 4 });
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

test('reads conditions at the start like the engine', () => {
  const conditions = fc.array(fc.tuple(fc.constantFrom('=', '!'), sources), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(conditions, sources, texts, (all, rest, text) => {
      const whole = `^${all.map(([kind, source]) => `(?${kind}${source})`).join('')}(?:${rest})`;
      const ours = compile(whole).test(text);
      expect([whole, ours]).toEqual([whole, engineFinds(whole, text) ?? ours]);
    }),
    { numRuns: 200 },
  );
});

describe('a class stands for the characters that the engine takes for it', () => {
  const characters = new Characters('');
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
    for (const probe of probes.filter((c) => c >= 0 && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff))) {
      expect([source, probe, includes(set, probe)]).toEqual([source, probe, engine.test(String.fromCodePoint(probe))]);
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
    const sign = fc.oneof(fc.integer({ min: 0x20, max: 0x2ff }), fc.constantFrom(...EDGES.slice(3), 0x2028, 0x1f600));
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

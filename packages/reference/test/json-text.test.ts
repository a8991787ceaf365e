import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  compactJson,
  indentJson,
  parseExact,
  parseTexts,
  piecesOf,
} from '../src/browser/model/json-text.ts';

describe('indented JSON', () => {
  test('keeps every digit', () => {
    expect(indentJson('{"id":9223372036854775807,"n":[1.50,-0,1e400]}')).toBe(
      '{\n  "id": 9223372036854775807,\n  "n": [\n    1.50,\n    -0,\n    1e400\n  ]\n}',
    );
  });

  test('is what JSON.stringify makes of values that JSON.parse can hold', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(indentJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
      }),
    );
  });

  test.each(['', 'Bad Gateway', '{"id":', '{"a":1}}', '[1,]'])(
    'stays as it is when it is not JSON: %j',
    (text) => {
      expect(indentJson(text)).toBe(text);
    },
  );
});

describe('compact JSON', () => {
  test('is what JSON.stringify makes, with every digit', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(JSON.parse(JSON.stringify(value)));
        expect(compactJson(indentJson(text))).toBe(text);
      }),
    );
    expect(compactJson('{ "id": 9007199254740993 }')).toBe('{"id":9007199254740993}');
    expect(compactJson('a: [ 1')).toBe('a: [ 1');
  });
});

describe('parsed JSON', () => {
  test('keeps the digits of numbers that would be rounded', () => {
    const text = '{"id":9007199254740993,"n":1.5,"s":"12345678901234567"}';
    const value = parseExact(text) as { readonly n: unknown; readonly s: unknown };
    expect(JSON.stringify(value)).toBe(text);
    expect([value.n, value.s]).toEqual([1.5, '12345678901234567']);
  });

  test('is made of texts for parameters', () => {
    expect(parseTexts('{"a":[9007199254740993,true,null,"x"],"b":{"c":1.50}}')).toEqual({
      a: ['9007199254740993', 'true', 'null', 'x'],
      b: { c: '1.50' },
    });
  });
});

describe('the pieces that are coloured', () => {
  test('are the text, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(
          piecesOf(text)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(text);
      }),
    );
  });

  test('distinguish names, strings, numbers and literals', () => {
    const kinds = piecesOf('{"a": "b", "c": -1.5e3, "d": null}').filter(
      ({ kind }) => kind !== 'other',
    );
    expect(kinds).toEqual([
      { kind: 'name', text: '"a":' },
      { kind: 'string', text: '"b"' },
      { kind: 'name', text: '"c":' },
      { kind: 'number', text: '-1.5e3' },
      { kind: 'name', text: '"d":' },
      { kind: 'literal', text: 'null' },
    ]);
  });
});

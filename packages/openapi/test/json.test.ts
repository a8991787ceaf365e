import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Unreadable } from '../src/faults.ts';
import { MAX_DEPTH, Reader, readJsonInSteps, readJsonText } from '../src/json.ts';
import type { Reading } from '../src/marks.ts';
import { atOnce } from '../src/slices.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The reading, or the fault and the byte that its message names. */
function attempt(read: () => Reading) {
  try {
    return { ...read(), fault: null };
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    const { message: whole, ...fault } = thrown.fault;
    const [, message = whole, offset] = /^(.*) \(at byte (\d+)\)$/.exec(whole) ?? [];
    return { value: undefined, fault: { ...fault, message, offset: Number(offset) } };
  }
}

const readJson = (body: Uint8Array, depth?: number) =>
  attempt(() => atOnce(readJsonInSteps(body, depth)));

const read = (text: string): unknown => readJson(bytes(text)).value;

const fault = (text: string): string => {
  const { fault } = readJson(bytes(text));
  return fault ? `${fault.pointer} ${fault.offset} ${fault.message}` : 'no fault';
};

function parsed(text: string): unknown {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return 'not JSON';
  }
}

/** Integers rounded, objects with a prototype. */
const rounded = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? Number(member) : member)),
  );

describe('agrees with JSON.parse', () => {
  test('on every value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.constantFrom(undefined, 2, '\t'), (text, indent) => {
        const written = JSON.stringify(JSON.parse(text), null, indent);
        const { value, fault } = readJson(bytes(written));
        if (fault) expect(fault.message).toMatch(/surrogate|precise/);
        else expect(rounded(value)).toEqual(rounded(JSON.parse(written)));
      }),
      { numRuns: 500 },
    );
  });

  test('on what is not JSON', () => {
    const signs = '{}[],:"\\0123456789.eE+-truefalsn \t\n\u0001ü';
    const scrap = fc.constantFrom(...signs, '"a"', 'null', '\\u00e9');
    fc.assert(
      fc.property(fc.array(scrap, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const expected = parsed(text);
        const { value, fault } = readJson(bytes(text));
        if (expected === 'not JSON') expect(fault).not.toBeNull();
        else if (fault) expect(fault.message).toMatch(/more than once|precise/);
        else expect({ value: rounded(value) }).toEqual(rounded(expected));
      }),
      { numRuns: 5000 },
    );
  });

  test('on a good text with one character changed', () => {
    const good = '{"a":[1,-2.5e+3,true,null,"x\\n\\u00e9"],"b":{"c":""}}';
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.constantFrom(...'{}[],:"\\ 0e-.x'), (at, c) => {
        const text = good.slice(0, at) + c + good.slice(at + 1);
        const { fault } = readJson(bytes(text));
        if (parsed(text) === 'not JSON') expect(fault).not.toBeNull();
        else if (fault) expect(fault.message).toMatch(/more than once|precise/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('finds each name that an object has twice, and no other', () => {
  const long = 'n'.repeat(40);
  const names = ['a', 'b', 'c', '\\u0061', 'a\\"b', '\\\\', '', '日本', 'constructor', '__proto__'];
  const name = fc.constantFrom(...names, long);
  const leaf = fc.constantFrom('0', '""', '"a"', '[]', '{}', '{"a":1,"b":2}', '[{"b":1},{"a":1}]');
  const object = (value: fc.Arbitrary<string>) =>
    fc.array(fc.tuple(name, value), { maxLength: 5 }).map((members) => ({
      text: `{${members.map(([name, value]) => `"${name}":${value}`).join()}}`,
      names: members.map(([name]) => JSON.parse(`"${name}"`) as string),
      expected: `{${members.map(([name, value]) => `${JSON.stringify(JSON.parse(`"${name}"`))}:${value}`).join()}}`,
    }));
  const many = Array.from({ length: 40 }, (_, i) => `"k${i}":${i}`).join();

  test('in a list of similar objects', () => {
    fc.assert(
      fc.property(fc.array(object(leaf), { maxLength: 6 }), (objects) => {
        const text = `[${objects.map(({ text }) => text).join()}]`;
        const { value, fault } = readJson(bytes(text));
        const at = objects.findIndex(({ names }) => new Set(names).size < names.length);
        // JSON.parse of Node.js 24.21 confuses escaped names.
        const expected = `[${objects.map(({ expected }) => expected).join()}]`;
        if (at < 0) return expect(JSON.stringify(value)).toBe(expected);
        const { names } = objects[at]!;
        const twice = names.find((name, i) => names.indexOf(name) < i)!;
        return expect(fault).toMatchObject({
          rule: 'repeated',
          pointer: expect.stringMatching(
            `^/${at}/${twice === long ? 'n+' : twice.replace(/\\/, '\\\\')}$`,
          ),
        });
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    [`[{${many}},{${many},"k39":0}]`, '/1/k39'],
    [`[{${many}},{${many}},{"k0":0,"k2":0,${many}}]`, '/2/k0'],
    ['[{"a":1,"b":2},{"a":1,"\\u0063":2,"b":3},{"a":1,"b":2,"b":3}]', '/2/b'],
    ['[{"a":{"a":1}},{"a":{"a":1,"a":2}}]', '/1/a/a'],
  ])('%.40s', (text, pointer) => {
    expect(readJson(bytes(text)).fault).toMatchObject({ rule: 'repeated', pointer });
  });

  test('a name in the place of an escaped name is not the same text', () => {
    expect(fault('[{"a\\"b":1},{"a"b":1}]')).toBe("/1/a 16 is not valid JSON: ':' is expected");
    expect(fault('[{"a":1},{"a')).toBe('/1/ 12 is not valid JSON: a string has no end');
    expect(fault(`[{"abc":1},{"ab${'\\'}`)).toBe('/1/ 16 is not valid JSON: a string has no end');
  });
});

test('texts of all lengths end where they end', () => {
  // The longer text leaves its codes behind.
  const around = [1, 2, 3, 64 * 1024 - 3, 64 * 1024 - 2, 64 * 1024 - 1, 64 * 1024];
  for (const length of [...around, 10]) {
    expect(read('1'.repeat(Math.min(length, 15)).padEnd(length))).toBe(
      Number('1'.repeat(Math.min(length, 15))),
    );
    expect(fault(`"${'a'.repeat(length)}`)).toBe(
      ` ${length + 1} is not valid JSON: a string has no end`,
    );
    expect(fault(`"${'a'.repeat(length)}\\`)).toBe(
      ` ${length + 2} is not valid JSON: a string has no end`,
    );
  }
});

describe('in steps', () => {
  function inSteps(text: string, most: number) {
    const reader = new Reader(text, MAX_DEPTH, false);
    while (!reader.read(most));
    return reader.result;
  }

  test('of any size it reads the same', () => {
    const pieces = [...'{}[],:" \t1', '1.0', '"a"', '{"a":', '[[', 'null'];
    const scrap = fc
      .array(fc.constantFrom(...pieces), { maxLength: 20 })
      .map((parts) => parts.join(''));
    const json = fc.json({ maxDepth: 6 });
    fc.assert(
      fc.property(fc.oneof(json, scrap), fc.nat(10), (text, most) => {
        expect(attempt(() => inSteps(text, most))).toEqual(attempt(() => readJsonText(text)));
      }),
      { numRuns: 2000 },
    );
  });

  test('a large text takes more than one, and others may be read between them', () => {
    const name = 'n'.repeat(7);
    const text = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ [name]: i })));
    const steps = readJsonInSteps(bytes(text));
    let step = steps.next();
    let count = 1;
    for (; !step.done; step = steps.next(), count++)
      expect(read('{"other":[1]}')).toEqual({ other: [1] });
    expect(count).toBeGreaterThan(text.length / 8192);
    expect(step.value).toEqual(atOnce(readJsonInSteps(bytes(text))));
  });

  test.each([' '.repeat(70_000), '日本'.repeat(12_000)])(
    'a text of many bytes may be short: %.2s',
    (long) => {
      const text = JSON.stringify([long]);
      for (const body of [
        bytes(text),
        bytes(`${text}!`),
        Uint8Array.from([...bytes(text), 0xff]),
      ]) {
        expect(readJson(body)).toMatchObject(
          body.at(-1) === 0x5d ? { value: [long] } : { fault: {} },
        );
      }
    },
  );
});

describe('refuses', () => {
  test.each([
    ['', ' 0 is not valid JSON: a value is expected'],
    ['[1,]', '/1 3 is not valid JSON: a value is expected'],
    ['[1 2]', "/0 3 is not valid JSON: ',' or ']' is expected"],
    ['{"a":1,}', ' 7 is not valid JSON: a name in double quotes is expected'],
    ['{"a":[{b:1}]}', '/a/0 7 is not valid JSON: a name in double quotes is expected'],
    ['{"a" 1}', "/a 5 is not valid JSON: ':' is expected"],
    ['{"a":1 "b":2}', "/a 7 is not valid JSON: ',' or '}' is expected"],
    ['nul', ' 0 is not valid JSON: a value is expected'],
    ['NaN', ' 0 is not valid JSON: a value is expected'],
    ["'a'", ' 0 is not valid JSON: a value is expected'],
    ['01', ' 1 has something after its end'],
    ['1.', ' 1 has something after its end'],
    ['+1', ' 0 is not valid JSON: a value is expected'],
    ['-', ' 0 is not valid JSON: a value is expected'],
    ['.5', ' 0 is not valid JSON: a value is expected'],
    ['1 2', ' 2 has something after its end'],
    ['{}{}', ' 2 has something after its end'],
    ['"a', ' 2 is not valid JSON: a string has no end'],
    ['"a\\', ' 3 is not valid JSON: a string has no end'],
    ['"a\nb"', ' 2 is not valid JSON: a string has a control character in it'],
    ['"\\t\nb"', ' 3 is not valid JSON: a string has a control character in it'],
    ['"\\x41"', ' 0 is not valid JSON: a string has an escape that does not exist'],
    ['"\\u12"', ' 0 is not valid JSON: a string has an escape that does not exist'],
    ['"\\\n"', ' 0 is not valid JSON: a string has an escape that does not exist'],
    ['// a\n1', ' 0 is not valid JSON: a value is expected'],
    ['\u00a01', ' 0 is not valid JSON: a value is expected'],
    ['\ufeff{}', ' 0 begins with a byte order mark'],
    ['{"a":1,"b":[{"x":1,"y":2,"x":3}]}', '/b/0/x 28 is given more than once'],
    ['{"a":1,"\\u0061":2}', '/a 15 is given more than once'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__ 26 is given more than once'],
    ['{"":1,"":2}', '/ 8 is given more than once'],
    ['["\\ud83d"]', '/0 1 has half a surrogate pair in a string'],
    ['{"\\udc36":1}', '/ 1 has half a surrogate pair in a string'],
    ['"\\ud83d\\udc36"', 'no fault'],
  ])('%j', (text, expected) => {
    expect(fault(text)).toBe(expected);
  });

  test('what is nested too deep, and nothing that is not', () => {
    expect(readJson(bytes('[[[]]]'), 2).fault).toMatchObject({
      rule: 'depth',
      limit: 2,
      pointer: '/0/0',
    });
    expect(readJson(bytes('[[[]]]'), 3).fault).toBeNull();
    expect(read('['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH))).toBeDefined();
    expect(fault('['.repeat(MAX_DEPTH + 1) + ']'.repeat(MAX_DEPTH + 1))).toContain(
      `${MAX_DEPTH} is nested deeper than ${MAX_DEPTH} levels`,
    );
    expect(fault('{"a":'.repeat(1e5))).toContain('is nested deeper');
  });

  test.each([
    [[0x22, 0xff, 0x22], 1],
    [[0x22, 0xc3, 0xa9, 0xc3, 0x22], 3],
    [[0x22, 0xc0, 0xaf, 0x22], 1],
    [[0x22, 0xed, 0xa0, 0x80, 0x22], 1],
    [[0x22, 0xef, 0xbf, 0xbd, 0xf0, 0x9f, 0x22], 4],
  ])('bytes that are not UTF-8: %j', (values, offset) => {
    expect(readJson(Uint8Array.from(values)).fault).toEqual({
      pointer: '',
      offset,
      message: 'is not UTF-8',
      rule: 'encoding',
    });
  });
});

describe('reads numbers', () => {
  test.each([
    ['0', 0],
    ['-0', -0],
    ['12', 12],
    ['1.0', 1],
    ['1e2', 100],
    ['12.50e1', 125],
    ['0.1', 0.1],
    ['1E-7', 1e-7],
    ['0e999', 0],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775807.0', 9223372036854775807n],
    ['9.007199254740993e15', 9007199254740993n],
    ['1e20', 100000000000000000000n],
    ['123456789012345678901234567890', 123456789012345678901234567890n],
  ])('%s exactly', (text, value) => {
    expect(read(text)).toBe(value);
    expect(read(`[${text}]`)).toEqual([value]);
  });

  test.each([
    '1e999',
    '-1e999',
    '9'.repeat(400),
    '9007199254740993.5',
    '1.00000000000000000001',
    '1e-999',
  ])('but refuses %s, which no number here is near enough to', (text) => {
    expect(fault(`{"a":${text}}`)).toBe(
      '/a 5 is a number too large or too precise to be read exactly',
    );
  });

  test('every 64-bit integer', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (integer) => {
        expect(BigInt(read(String(integer)) as number)).toBe(integer);
      }),
    );
  });
});

test('members named like parts of objects are members like any other', () => {
  const value = read('{"__proto__":{"polluted":true},"constructor":1,"toString":2}') as Record<
    string,
    unknown
  >;
  expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
  expect(value.polluted).toBeUndefined();
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect((read('{}') as Record<string, unknown>).constructor).toBeUndefined();
});

test('names in pointers are shortened, and do not print what does not print', () => {
  const { fault } = attempt(() => readJsonText(`{"${'k'.repeat(200)}":{"a/b~\\u0007":!}}`));
  expect(fault?.pointer).toBe(`/${'k'.repeat(63)}…/a~1b~0\\u{7}`);
});

test('no fault repeats what was sent', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z]{8}$/),
      fc.constantFrom('"S', '["S",]', 'S', '"S\\q"', '{"a":"S"'),
      (secret, text) => {
        expect(fault(text.replace('S', secret))).not.toContain(secret);
      },
    ),
  );
});

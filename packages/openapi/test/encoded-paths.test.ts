import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Contract, loadContract, type TargetPaths, targetOf } from '../src/index.ts';

const text = (max: number) =>
  fc
    .array(fc.constantFrom(...'aab:,+'), { minLength: 1, maxLength: max })
    .map((characters) => characters.join(''));

const segment = fc.oneof(
  text(3),
  fc.constant('{}'),
  fc.tuple(text(2), text(2)).map(([before, between]) => `${before}{}${between}{}`),
  text(2).map((after) => `{}${after}`),
);
const templates = fc.uniqueArray(
  fc.array(segment, { minLength: 1, maxLength: 2 }).map((segments) => `/${segments.join('/')}`),
  { minLength: 2, maxLength: 8 },
);

function contractOf(outlines: readonly string[]): Contract {
  const paths = outlines.map((outline) => {
    let count = 0;
    const path = outline.replaceAll('{}', () => `{p${count++}}`);
    const parameters = Array.from({ length: count }, (_, i) => ({
      name: `p${i}`,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    }));
    const get = { operationId: path, parameters, responses: { 200: { description: '' } } };
    return [path, { get }] as const;
  });
  return loadContract({
    openapi: '3.1.0',
    info: { title: '', version: '' },
    paths: Object.fromEntries(paths),
  });
}

const encoded = (character: string, isLower: boolean) => {
  const triplets = [...Buffer.from(character)]
    .map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`)
    .join('');
  return isLower ? triplets.toLowerCase() : triplets;
};

const spelling = fc.constantFrom('plain', 'lower', 'upper');

/** Of a filled template, or of any segments. */
interface Spelling {
  readonly template: number;
  readonly values: readonly string[];
  readonly isFilled: boolean;
  readonly spellings: readonly string[];
}

const value = fc.oneof(text(3), fc.constantFrom(...`.;$&!'()*=-~_%/é`));
const spellings: fc.Arbitrary<Spelling> = fc.record({
  template: fc.nat(),
  values: fc.array(value, { minLength: 4, maxLength: 4 }),
  isFilled: fc.boolean(),
  spellings: fc.array(spelling, { minLength: 40, maxLength: 40 }),
});

/** A path, and the same with some of its characters encoded. */
function pathsOf(outlines: readonly string[], { template, values, isFilled, spellings }: Spelling) {
  const outline = isFilled ? outlines[template % outlines.length]! : '/{}/{}';
  let count = 0;
  const characters = [...outline.replaceAll('{}', () => values[count++]!)];
  const spell = (how: (i: number) => string) =>
    characters
      .map((one, i) => {
        const spelling = how(i);
        if (one === '/' || (spelling === 'plain' && !/[%é]/.test(one))) return one;
        return encoded(one, spelling === 'lower');
      })
      .join('');
  return { plain: spell(() => 'plain'), spelt: spell((i) => spellings[i % spellings.length]!) };
}

const accepted = (path: string): TargetPaths | null => {
  const target = targetOf(path);
  return 'message' in target ? null : target;
};

test('a path in any encoding finds the operation and values of the decoded path, or is refused', () => {
  const counts = { same: 0, refused: 0, ambiguous: 0 };
  fc.assert(
    fc.property(templates, fc.array(spellings, { minLength: 20 }), (outlines, all) => {
      let contract: Contract;
      try {
        contract = contractOf(outlines);
      } catch {
        // Two templates that are one path.
        return;
      }
      for (const one of all) {
        const { plain, spelt } = pathsOf(outlines, one);
        const target = accepted(spelt);
        if (target === null) {
          counts.refused++;
          continue;
        }
        const of = accepted(plain);
        if (of === null) throw new Error(`${spelt} is accepted, ${plain} is not`);
        expect(target.path).toBe(of.path);
        const found = contract.matchTarget('GET', target);
        const expected = contract.matchTarget('GET', of);
        expect(found.operation).toBe(expected.operation);
        if (!('parameters' in found) || !('parameters' in expected)) continue;
        if (found.parameters === null) {
          counts.ambiguous++;
          continue;
        }
        counts.same++;
        expect(found.parameters.map(decodeURIComponent)).toEqual(
          expected.parameters!.map(decodeURIComponent),
        );
        const undecoded = contract.match('GET', target.written);
        expect([found.operation, null]).toContain(undecoded.operation);
      }
    }),
    { numRuns: 300 },
  );
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
});

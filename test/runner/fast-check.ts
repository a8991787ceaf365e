import fc from 'fast-check';

// Otherwise it makes ten elements where a property allows sixty.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });

const USUAL = 100;
/** The minimum for a property that requests at least as many. */
const LEAST = 20;

export const isDeep = process.env.STOREGATE_TEST_DEPTH === 'deep';
const seed = process.env.STOREGATE_TEST_SEED;

/** `npm test` does a tenth of the random runs, `npm run test:deep` does all. */
function runsOf(all: number): number {
  return isDeep ? all : Math.max(Math.ceil(all / 10), Math.min(all, LEAST));
}

function assert<T>(
  property: fc.IRawProperty<T>,
  { numRuns = USUAL, ...parameters }: fc.Parameters<T> = {},
) {
  const given = { ...parameters, numRuns: runsOf(numRuns), ...(seed && { seed: Number(seed) }) };
  try {
    return fc.assert(property, given);
  } catch (error) {
    // Jest shows the first line outside of node_modules, which must be the line of the test.
    Error.captureStackTrace(error as Error, assert);
    throw error;
  }
}

/** Without surrogates that have no partner. */
const codePoint = fc
  .oneof(fc.nat({ max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

/** The unit `binary` of fast-check takes a second of CPU: it builds a table of all code points. */
const string = ({ unit, ...constraints }: fc.StringConstraints = {}) =>
  fc.string({ ...constraints, ...(unit && { unit: unit === 'binary' ? codePoint : unit }) });

/**
 * Tests import this as `fast-check`: `assert` sets the number of runs and takes the seed from
 * STOREGATE_TEST_SEED.
 */
export default { ...fc, assert, string };

import { describe, expect, test } from '@jest/globals';
import { isDeep } from '../../../test/runner/fast-check.ts';
import type { Head } from '../src/heads.ts';
import { ANSWERS } from './cases/answers.ts';
import type { WireCase } from './cases/case.ts';
import { CHUNKS } from './cases/chunks.ts';
import { HEADER_LINES } from './cases/header-lines.ts';
import { LENGTHS } from './cases/lengths.ts';
import { REQUEST_LINES } from './cases/request-lines.ts';
import { type Reading, readAnswers, readRequests } from './reading.ts';
import { bytewise, inThree, inTwo } from './splits.ts';

/** Splits into three grow with the square of the length. */
const SHORT = isDeep ? 48 : 24;

function readingOf<H extends Head>({ messages, fault }: Reading<H>, lineOf: (head: H) => string) {
  const understood = messages.map(
    ({ head, body, whole }) => `${lineOf(head)}|${body}${whole ? '' : '…'}`,
  );
  return { understood, fault };
}

const asRequests = (pieces: readonly string[]) =>
  readingOf(readRequests(pieces), ({ method, target }) => `${method} ${target} `);

function check(
  { bytes, understood, fault }: WireCase,
  read: (pieces: readonly string[]) => unknown,
): void {
  const expected = { understood, fault };
  expect(read([bytes])).toEqual(expected);
  const splits = [
    bytewise(bytes),
    ...inTwo(bytes),
    ...(bytes.length > SHORT ? [] : inThree(bytes)),
  ];
  const other = splits.find((pieces) => JSON.stringify(read(pieces)) !== JSON.stringify(expected));
  if (other !== undefined)
    expect({ pieces: other, ...(read(other) as object) }).toEqual({ pieces: other, ...expected });
}

describe('of a request, however its bytes arrive, is understood or refused', () => {
  describe.each([
    ['the first line', REQUEST_LINES],
    ['header lines', HEADER_LINES],
    ['the length of the body', LENGTHS],
    ['chunks', CHUNKS],
  ])('%s:', (_part, cases) => {
    test.each(cases)('$what', (one) => check(one, asRequests));
  });
});

describe('an answer, however its bytes arrive, is understood or refused:', () => {
  test.each(ANSWERS)('$what', ({ method = 'GET', ends = false, ...one }) => {
    check(one, (pieces) =>
      readingOf(
        readAnswers(pieces, { method, ends }),
        ({ status, reason }) => `${status} ${reason}`,
      ),
    );
  });
});

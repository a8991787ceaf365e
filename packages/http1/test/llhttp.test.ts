import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { answerCases, requestCases } from './arbitrary-messages.ts';
import { ANSWERS } from './cases/answers.ts';
import { CHUNKS } from './cases/chunks.ts';
import { HEADER_LINES } from './cases/header-lines.ts';
import { LENGTHS } from './cases/lengths.ts';
import { REQUEST_LINES } from './cases/request-lines.ts';
import { compareAnswers, compareRequests, Tally } from './comparison.ts';
import { NodeServer } from './node-http.ts';

/** Enough of each kind to reach every part of the readers. */
function expectVariety({ cases, whole, heads, faults }: Tally): void {
  expect(whole).toBeGreaterThan(cases / 3);
  expect(heads).toBeGreaterThan(cases / 50);
  expect(faults.malformed).toBeGreaterThan(cases / 5);
}

test('what the table of cases has ours accept llhttp understands in the same way', async () => {
  const server = new NodeServer();
  const tally = new Tally();
  for (const { what, bytes } of [...REQUEST_LINES, ...HEADER_LINES, ...LENGTHS, ...CHUNKS]) {
    expect([what, await compareRequests({ bytes, pieces: [bytes] }, server, tally)]).toEqual([
      what,
      null,
    ]);
  }
  for (const { what, bytes, method = 'GET', ends = false } of ANSWERS) {
    expect([what, await compareAnswers({ bytes, pieces: [bytes], method, ends }, tally)]).toEqual([
      what,
      null,
    ]);
  }
  expect(tally.whole).toBeGreaterThan(150);
});

test('requests that ours accepts llhttp understands in the same way', async () => {
  const server = new NodeServer();
  const tally = new Tally();
  await fc.assert(
    fc.asyncProperty(requestCases, async (one) => {
      expect(await compareRequests(one, server, tally)).toBeNull();
    }),
    { seed: 20_260_101, numRuns: 10_000 },
  );
  expectVariety(tally);
  for (const fault of ['version', 'method']) expect(tally.faults[fault] ?? 0).toBeGreaterThan(0);
});

test('answers that ours accepts llhttp understands in the same way', async () => {
  const tally = new Tally();
  await fc.assert(
    fc.asyncProperty(answerCases, async (one) => {
      expect(await compareAnswers(one, tally)).toBeNull();
    }),
    { seed: 20_260_101, numRuns: 4_000 },
  );
  expectVariety(tally);
});

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createOutageGrace, DeadlineError, withDeadline } from '../../src/state/shared/deadline.ts';

/** A request that waits for a shard: how it ended, and what ends it. */
interface Asked {
  outcome: unknown;
  answer(): void;
  fail(error: Error): void;
}

describe('a request with a deadline of 50 ms', () => {
  let patience: ReturnType<typeof createOutageGrace>;

  beforeEach(() => {
    jest.useFakeTimers();
    patience = createOutageGrace(50, (name) => name.split(':')[0]!);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  function ask(name = 'one:a', by = patience): Asked {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const requested: Asked = { outcome: 'waits', answer: () => resolve('answer'), fail: reject };
    by(name, promise).then(
      (response) => {
        requested.outcome = response;
      },
      (error) => {
        requested.outcome = error instanceof DeadlineError ? 'late' : error;
      },
    );
    return requested;
  }

  const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
  const outcomes = (...requested: Asked[]) => requested.map(({ outcome }) => outcome);

  test('waits through a hiccup, and has the answer', async () => {
    const requested = ask();
    await pass(180);
    expect(requested.outcome).toBe('waits');
    requested.answer();
    await pass(0);
    expect(requested.outcome).toBe('answer');
  });

  test('does not wait after the connection breaks', async () => {
    const requested = ask();
    await pass(60);
    const broken = new Error('Connection is closed.');
    requested.fail(broken);
    await pass(0);
    expect(requested.outcome).toBe(broken);
  });

  test('waits 200 ms at most; later ones wait only as long as the first', async () => {
    const first = ask();
    await pass(100);
    const second = ask();
    await pass(60);
    const third = ask();
    await pass(38);
    expect(outcomes(first, second, third)).toEqual(['waits', 'waits', 'waits']);
    await pass(4);
    expect(outcomes(first, second, third)).toEqual(['late', 'late', 'waits']);
    await pass(12);
    expect(third.outcome).toBe('late');
  });

  test('waits once only for a shard that stays slow, and again after an answer in time', async () => {
    const slow = ask();
    await pass(80);
    slow.answer();
    await pass(1_000);
    const slowAgain = ask();
    await pass(52);
    expect(outcomes(slow, slowAgain)).toEqual(['answer', 'late']);
    const quick = ask();
    quick.answer();
    await pass(0);
    const afterwards = ask();
    await pass(80);
    afterwards.answer();
    await pass(0);
    expect(outcomes(quick, afterwards)).toEqual(['answer', 'answer']);
  });

  test('does not pay for another shard', async () => {
    ask('one:a');
    await pass(500);
    const other = ask('two:b');
    const well = ask('two:c');
    well.answer();
    await pass(80);
    const slow = ask('one:d');
    await pass(52);
    expect(outcomes(other, well, slow)).toEqual(['waits', 'answer', 'late']);
  });

  test('with a short deadline waits a second time for at most three such deadlines', async () => {
    const requested = ask(
      'one:a',
      createOutageGrace(10, () => ''),
    );
    await pass(38);
    expect(requested.outcome).toBe('waits');
    await pass(4);
    expect(requested.outcome).toBe('late');
  });
});

describe('a process that was busy', () => {
  function block(milliseconds: number): void {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
  }
  /** Takes so long by the clock, where a timer would count from the beginning of the turn. */
  async function answerIn(milliseconds: number): Promise<string> {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) await new Promise((resolve) => setImmediate(resolve));
    return 'answer';
  }

  test('reads what has arrived before it takes the answer for late', async () => {
    const waiting = withDeadline(
      new Promise((resolve) => setImmediate(() => resolve('answer'))),
      20,
    );
    block(30);
    await expect(waiting).resolves.toBe('answer');
  });

  test('counts the deadline from when it asked, not from when its turn began', async () => {
    await new Promise((resolve) => setImmediate(resolve));
    block(100);
    const response = answerIn(30);
    await expect(withDeadline(response, 90)).resolves.toBe('answer');
  });
});

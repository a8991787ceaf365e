import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  createLogOutput,
  type Gap,
  type LogOutput,
  MAX_WAITING,
} from '../../src/observe/log-output.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const folder = temporaryFolders();
const LINE = 1_000;
/** Lines of which no two are equal, all with `LINE` characters. */
const lineOf = (number: number) => `${`${number} `.padEnd(LINE - 1, '.')}\n`;
const numberOf = (line: string) => Number(line.split(' ')[0]);

describe('a pipe whose reader does not read', () => {
  let pipe: number;
  let output: LogOutput;
  let gaps: Gap[];
  let sent: number;

  beforeEach(() => {
    const path = join(folder(), 'pipe');
    execFileSync('mkfifo', [path]);
    pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    gaps = [];
    sent = 0;
    output = createLogOutput(pipe, 2_048, (gap) => {
      gaps.push(gap);
      output.write('gap\n');
    });
  });
  afterEach(() => {
    output.close();
    closeSync(pipe);
  });

  function write(lines: number): void {
    for (let i = 0; i < lines; i++) output.write(lineOf(sent++));
  }

  /** What the pipe holds. */
  function read(): string {
    const buffer = Buffer.alloc(MAX_WAITING);
    try {
      return buffer.toString('utf8', 0, readSync(pipe, buffer));
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' });
      return '';
    }
  }

  async function readUntil(end: string): Promise<string[]> {
    let text = '';
    await until('the reader has the last line', () => {
      text += read();
      return text.includes(end);
    });
    return text.split('\n').slice(0, -1);
  }

  test('loses no line, and their order, while fewer wait than may wait', async () => {
    write(MAX_WAITING / LINE);
    expect(output.droppedLines).toBe(0);
    const lines = await readUntil(lineOf(sent - 1));
    expect(lines.map(numberOf)).toEqual(Array.from({ length: sent }, (_, i) => i));
    expect(gaps).toEqual([]);
  });

  test('drops and counts lines beyond them, and has one report in the place of the lines', async () => {
    write((2 * MAX_WAITING) / LINE);
    const dropped = output.droppedLines;
    expect(dropped).toBeGreaterThan(MAX_WAITING / LINE / 2);
    const before = await readUntil('gap\n');
    expect(before.at(-1)).toBe('gap');
    expect(before.slice(0, -1).map(numberOf)).toEqual(
      Array.from({ length: sent - dropped }, (_, i) => i),
    );
    expect(gaps).toEqual([
      { count: dropped, duration: expect.any(Number), reason: 'the reader of the log is too slow' },
    ]);
    write(1);
    expect(await readUntil(lineOf(sent - 1))).toHaveLength(1);
    expect(gaps).toHaveLength(1);
    expect(output.droppedLines).toBe(dropped);
  });

  test('gets lines again once half of those that wait are written', async () => {
    write((2 * MAX_WAITING) / LINE);
    const dropped = output.droppedLines;
    let taken = 0;
    await until('there is room again', () => {
      taken += read().length;
      write(1);
      return gaps.length === 1;
    });
    expect(taken).toBeLessThan((MAX_WAITING * 3) / 4);
    expect(output.droppedLines).toBeGreaterThan(dropped);
    const lines = await readUntil(lineOf(sent - 1));
    expect(numberOf(lines.at(-1)!)).toBe(sent - 1);
  });

  test('is given up for a moment by a log that closes, which still writes what the reader takes', () => {
    write((2 * MAX_WAITING) / LINE);
    output.close();
    expect(read().length).toBeGreaterThan(0);
    output.write('last\n');
    expect(gaps).toEqual([]);
  });

  test('gets nothing by itself after the log was closed', async () => {
    jest.useFakeTimers({ doNotFake: ['performance'] });
    try {
      write(MAX_WAITING / LINE);
      output.close();
      read();
      await jest.advanceTimersByTimeAsync(10_000);
      expect(read()).toBe('');
    } finally {
      jest.useRealTimers();
    }
  });
});

test('a full disk costs lines, and no error', () => {
  const full = openSync('/dev/full', 'w');
  const gaps: Gap[] = [];
  const output = createLogOutput(full, 2_048, (gap) => void gaps.push(gap));
  for (let i = 0; i < (2 * MAX_WAITING) / LINE; i++) output.write(lineOf(i));
  output.flush();
  output.close();
  closeSync(full);
  expect(output.droppedLines).toBeGreaterThan(MAX_WAITING / LINE / 2);
  expect(gaps).toEqual([]);
});

test('a file has lines at once after a flush, and a line longer than a batch whole', () => {
  const path = join(folder(), 'log');
  const file = openSync(path, 'a');
  const output = createLogOutput(file, 10, () => {});
  output.write('short\n');
  output.flush();
  expect(readFileSync(path, 'utf8')).toBe('short\n');
  output.write(lineOf(1));
  expect(readFileSync(path, 'utf8')).toBe(`short\n${lineOf(1)}`);
  output.close();
  closeSync(file);
  rmSync(path);
});

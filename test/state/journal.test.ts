import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { headerOf, headOf, JournalError, MAX_PAYLOAD } from '../../src/state/journal/format.ts';
import { readJournal } from '../../src/state/journal/read.ts';
import { replaceJournal } from '../../src/state/journal/replace.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folderOf = temporaryFolders();

class Collected {
  readonly payloads: string[] = [];
  readonly damages: string[] = [];
  batch(payload: Buffer): void {
    this.payloads.push(payload.toString('latin1'));
  }
  damaged(damage: string): void {
    this.damages.push(damage);
  }
}

const read = (folder: string) => readJournal(folder, 'things', () => new Collected()).reader;
const bytesOf = (payloads: readonly string[]) =>
  Buffer.concat([headerOf('things'), ...payloads.map(batchOf)]);

function batchOf(payload: string): Buffer {
  const bytes = Buffer.from(payload, 'latin1');
  return Buffer.concat([headOf(bytes), bytes]);
}

const payloads = fc.array(
  fc.uint8Array({ minLength: 1, maxLength: 40 }).map((b) => Buffer.from(b).toString('latin1')),
  {
    maxLength: 8,
  },
);

describe('a journal', () => {
  test('is read as it was written, generation by generation, without other files', () => {
    const folder = folderOf();
    for (const [file, payload] of [
      ['things.10.log', 'c'],
      ['things.9.log', 'b'],
      ['things.2.log', 'a'],
      ['things.02.log', 'x'],
      ['things.0.log', 'x'],
      ['things.log', 'x'],
      ['things.1.log.new', 'x'],
      ['others.1.log', 'x'],
      ['things..log', 'x'],
    ] as const) {
      writeFileSync(join(folder, file), bytesOf([payload]));
    }
    expect(read(folder)).toEqual({ payloads: ['a', 'b', 'c'], damages: [] });
  });

  test('that is replaced holds what it was replaced by, and nothing else', () => {
    const folder = folderOf();
    replaceJournal(folder, 'things', [Buffer.from('one'), Buffer.from('two')]);
    expect(read(folder).payloads).toEqual(['one', 'two']);
    replaceJournal(folder, 'things', [Buffer.from('three')]);
    expect(read(folder).payloads).toEqual(['three']);
    replaceJournal(folder, 'things', []);
    expect(read(folder)).toEqual({ payloads: [], damages: [] });
  });

  test('cut anywhere returns its whole batches, and where the rest begins', () => {
    const folder = folderOf();
    const file = join(folder, 'things.1.log');
    fc.assert(
      fc.property(payloads, fc.nat(), (written, random) => {
        const whole = bytesOf(written);
        const cut = random % (whole.length + 1);
        writeFileSync(file, whole);
        truncateSync(file, cut);
        const { payloads, damages } = read(folder);
        expect(payloads).toEqual(written.slice(0, payloads.length));
        const end = bytesOf(payloads).length;
        const isHeaderTorn = cut < headerOf('things').length;
        if (!isHeaderTorn)
          expect(cut - end).toBeLessThan(batchOf(written[payloads.length] ?? '-').length);
        const at = isHeaderTorn ? 0 : end;
        const damage = `${file} ends torn or damaged: what stands behind byte ${at} of ${cut} was not read`;
        expect(damages).toEqual(at < cut ? [damage] : []);
      }),
    );
  });

  test('with any byte changed gives only batches that were written, and the next file is read all the same', () => {
    const folder = folderOf();
    const file = join(folder, 'things.1.log');
    writeFileSync(join(folder, 'things.2.log'), bytesOf(['next']));
    fc.assert(
      fc.property(
        payloads,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (written, random, change) => {
          const bytes = bytesOf([...written, 'last']);
          const from = headerOf('things').length;
          const at = from + (random % (bytes.length - from));
          bytes[at]! ^= change;
          writeFileSync(file, bytes);
          const { payloads, damages } = read(folder);
          expect(payloads).toEqual([...written.slice(0, payloads.length - 1), 'next']);
          expect(damages).toEqual([expect.stringContaining(file)]);
          expect(Number(/behind byte (\d+) /.exec(damages[0]!)![1])).toBeLessThanOrEqual(at);
        },
      ),
    );
  });

  test.each([
    ['nothing', Buffer.alloc(0), 0],
    ['a part of the header', headerOf('things').subarray(0, 9), 1],
    ['zeros, as lost power leaves them', Buffer.alloc(100), 1],
    ['zeros behind batches', Buffer.concat([bytesOf(['a']), Buffer.alloc(100)]), 1],
    ['a length beyond all batches', Buffer.concat([bytesOf(['a']), Buffer.alloc(100, 255)]), 1],
    ['a length beyond the file', Buffer.concat([bytesOf(['a']), headOf(Buffer.alloc(1 << 20))]), 1],
  ])('that ends in %s is read up to there', (_, bytes, damages) => {
    const folder = folderOf();
    writeFileSync(join(folder, 'things.1.log'), bytes);
    writeFileSync(join(folder, 'things.2.log'), bytesOf(['z']));
    const found = read(folder);
    expect(found.payloads.at(-1)).toBe('z');
    expect(found.damages).toHaveLength(damages);
    for (const damage of found.damages) expect(damage).toContain('things.1.log');
  });

  test.each([
    [
      'storegate journal 2 things\n',
      /things\.1\.log was written by a newer storegate \(format 2\)/,
    ],
    ['storegate journal 1 others\n', /things\.1\.log is not a journal of things/],
    ['a text that someone has put here\n', /things\.1\.log is not a journal of things/],
  ])('that begins with %j is refused and not touched', (text, message) => {
    const folder = folderOf();
    const file = join(folder, 'things.1.log');
    writeFileSync(file, text);
    expect(() => read(folder)).toThrow(JournalError);
    expect(() => read(folder)).toThrow(message);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('takes no batch that could not be read', () => {
    expect(() => headOf(Buffer.alloc(0))).toThrow(RangeError);
    expect(() => headOf({ length: MAX_PAYLOAD + 1 } as Uint8Array)).toThrow(RangeError);
  });

  test('is read from the start again when its writer has dropped files meanwhile', () => {
    const folder = folderOf();
    replaceJournal(folder, 'things', [Buffer.from('old')]);
    let isFirst = true;
    class Slow extends Collected {
      override batch(payload: Buffer): void {
        super.batch(payload);
        if (!isFirst) return;
        isFirst = false;
        writeFileSync(join(folder, 'things.2.log'), bytesOf(['gone']));
        replaceJournal(folder, 'things', [Buffer.from('new')]);
      }
    }
    writeFileSync(join(folder, 'things.2.log'), bytesOf(['older']));
    expect(readJournal(folder, 'things', () => new Slow()).reader.payloads).toEqual(['new']);
  });
});

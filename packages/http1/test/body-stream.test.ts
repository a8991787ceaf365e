import { expect, test } from '@jest/globals';
import { BodyStream } from '../src/body-stream.ts';

test('a sink that comes late gets the bytes that came, though their buffer was used again', () => {
  const stream = new BodyStream({ pause: () => {}, resume: () => {} });
  const buffer = Buffer.from('one');
  stream.push(buffer);
  buffer.write('two');
  const texts: string[] = [];
  stream.to({ chunk: (bytes) => texts.push(bytes.toString()) > 0, end: () => {}, fail: () => {} });
  stream.push(buffer);
  expect(texts).toEqual(['one', 'two']);
});

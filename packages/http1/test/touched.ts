import { jest } from '@jest/globals';

/**
 * The bytes that buffers copy, search and decode and that expressions read: the same on every
 * machine.
 */
export function bytesTouched(run: () => void): number {
  let touched = 0;
  const { copy, indexOf, toString: decode } = Buffer.prototype;
  const { exec, test } = RegExp.prototype;
  const spies = [
    jest.spyOn(Buffer.prototype, 'copy').mockImplementation(function (
      this: Buffer,
      target: Uint8Array,
      at?: number,
      from = 0,
      to = this.length,
    ) {
      touched += to - from;
      return copy.call(this, target, at, from, to);
    } as typeof copy),
    jest.spyOn(Buffer.prototype, 'indexOf').mockImplementation(function (
      this: Buffer,
      byte: number,
      from = 0,
    ) {
      const found = indexOf.call(this, byte, from);
      touched += (found < 0 ? this.length : found) - from;
      return found;
    } as typeof indexOf),
    jest.spyOn(Buffer.prototype, 'toString').mockImplementation(function (
      this: Buffer,
      ...args: unknown[]
    ) {
      const text = decode.apply(this, args as Parameters<typeof decode>);
      touched += text.length;
      return text;
    } as typeof decode),
    jest.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text: string) {
      touched += text.length;
      return exec.call(this, text);
    }),
    jest.spyOn(RegExp.prototype, 'test').mockImplementation(function (this: RegExp, text: string) {
      touched += text.length;
      return test.call(this, text);
    }),
  ];
  try {
    run();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return touched;
}

export type Reply = string | number | null | readonly Reply[];

const CR = 13;

/**
 * Reads commands of RESP: arrays of bulk strings, with one character per byte. Calls `each` with
 * the words of each command.
 */
export function commandReader(each: (words: string[]) => void): (data: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);

  /** The number after the type byte at `at`, and the place behind its line; `null`: incomplete. */
  function numberAt(at: number): { readonly value: number; readonly next: number } | null {
    const end = pending.indexOf(CR, at);
    if (end < 0 || end + 2 > pending.length) return null;
    return { value: Number(pending.toString('latin1', at + 1, end)), next: end + 2 };
  }

  /** The place behind the first command; `null`: incomplete. */
  function readOne(): number | null {
    const count = numberAt(0);
    if (!count) return null;
    const words: string[] = [];
    let at = count.next;
    for (let i = 0; i < count.value; i++) {
      const length = numberAt(at);
      if (!length || length.next + length.value + 2 > pending.length) return null;
      words.push(pending.toString('latin1', length.next, length.next + length.value));
      at = length.next + length.value + 2;
    }
    each(words);
    return at;
  }

  return (data) => {
    pending = pending.length === 0 ? data : Buffer.concat([pending, data]);
    while (pending.length > 0) {
      const next = readOne();
      if (next === null) return;
      pending = pending.subarray(next);
    }
  };
}

/** An error that Redis answers. */
export class RedisFailure extends Error {}

/** Replies are those of RESP2, which RESP3 contains. */
export function encode(reply: Reply | RedisFailure): string {
  if (reply instanceof RedisFailure) return `-${reply.message}\r\n`;
  if (reply === null) return '$-1\r\n';
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (typeof reply === 'string') return `$${reply.length}\r\n${reply}\r\n`;
  return `*${reply.length}\r\n${reply.map(encode).join('')}`;
}

/** A message that is not the reply to a command (RESP3). */
export function encodePush(parts: readonly Reply[]): string {
  return `>${parts.length}\r\n${parts.map(encode).join('')}`;
}

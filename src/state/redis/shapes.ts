import type { Connection } from './client.ts';
import { reconnect } from './client.ts';

/** A reply that its command cannot have. Replies on this connection belong to other commands, so it must be dropped. */
export class UnexpectedReply extends Error {
  override name = 'UnexpectedReply';

  constructor(what: string) {
    super(`the answer of Redis to ${what} has the wrong shape`);
  }
}

const isTextOrNull = (answer: unknown): answer is string | null => answer === null || typeof answer === 'string';
export const isInteger = (answer: unknown): answer is number => Number.isSafeInteger(answer);
export const isList = (answer: unknown): answer is unknown[] => Array.isArray(answer);
export const isTextList = (answer: unknown): answer is string[] =>
  Array.isArray(answer) && answer.every((text) => typeof text === 'string');
export const isHash = (answer: unknown): answer is Record<string, string> =>
  typeof answer === 'object' && answer !== null && Object.values(answer).every((value) => typeof value === 'string');

/** `work`: a reply, or its promise. Throws UnexpectedReply and drops the connection if the reply has another type. */
export async function checkShape<T>(
  redis: Connection,
  what: string,
  work: unknown,
  hasShape: (answer: unknown) => answer is T,
): Promise<T> {
  const answer = await work;
  if (hasShape(answer)) return answer;
  reconnect(redis);
  throw new UnexpectedReply(what);
}

/** `null`: missing. Throws as `checkShape`. */
export function lookedUp(redis: Connection, work: unknown): Promise<string | null> {
  return checkShape(redis, 'a look-up of a key', work, isTextOrNull);
}

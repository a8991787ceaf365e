import { Cluster } from 'ioredis';
import type { Ban } from '../state.ts';
import type { Connection } from './client.ts';
import { LEDGERS, subjectIn } from './key-names.ts';

/** Names looked at in one step of the walk. */
const STEP = 1_000;

/** Walks through the ledgers of every master. `ask` answers numbers; the first is the end of the subject's ban, or 0. */
export async function bannedSubjects(redis: Connection, ask: (subject: string) => Promise<unknown>): Promise<Ban[]> {
  const banned = new Map<string, number>();
  for (const node of redis instanceof Cluster ? redis.nodes('master') : [redis]) {
    let cursor = '0';
    do {
      const [next, names] = await node.scan(cursor, 'MATCH', LEDGERS, 'COUNT', STEP);
      cursor = next;
      const subjects = names.map(subjectIn);
      const answers = (await Promise.all(subjects.map(ask))) as number[][];
      for (const [i, [until = 0]] of answers.entries()) if (until > 0) banned.set(subjects[i]!, until);
    } while (cursor !== '0');
  }
  return [...banned].map(([subject, until]) => ({ subject, until }));
}

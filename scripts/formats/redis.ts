import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { QUERIES } from '../../src/observe/peers/queries.ts';
import { DATA_FORMAT } from '../../src/state/redis/data-mark.ts';
import { CHANNEL, keyOf, QUESTIONS, responsesFor } from '../../src/state/redis/key-names.ts';
import { readScript, SCRIPTS } from '../../src/state/redis/scripts.ts';
import * as messages from '../../src/state/redis/subscriber.ts';

const COMMENTS = /^\s*--.*\n|^\s*\n/gm;

/** What gateways of two versions share on one Redis. */
export function* redis(): Generator<string> {
  yield `redis data: version ${DATA_FORMAT}`;
  for (const name of namesIn(keyOf)) yield `redis key ${name}`;
  for (const name of [CHANNEL, QUESTIONS, responsesFor('*')]) yield `redis channel ${name}`;
  const { subjectChanged, subjectBanned, entryAppended, EVERYTHING_CHANGED } = messages;
  for (const message of [subjectChanged, subjectBanned, entryAppended, EVERYTHING_CHANGED])
    yield `redis message ${namesIn(message)}`;
  for (const { name } of QUERIES) yield `redis query ${name}`;
  for (const file of readdirSync(SCRIPTS, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.lua')) continue;
    if (!file.includes('/')) {
      const code = readScript(file).text.replace(COMMENTS, '');
      yield `redis script ${file}: ${createHash('sha1').update(code).digest('hex')}`;
    }
    const commands = readFileSync(join(SCRIPTS, file), 'utf8').matchAll(
      /\.p?call\('H[A-Z]+',([^)]*)\)/g,
    );
    for (const [, names] of [...commands].flatMap(([, rest]) => [...rest!.matchAll(/'(\w+)'/g)]))
      yield `redis hash field ${names}`;
  }
}

function namesIn(names: unknown): readonly string[] {
  if (typeof names === 'function') return [names('*', '*')];
  return typeof names === 'string' ? [names] : Object.values(names as object).flatMap(namesIn);
}

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { QUERIES } from '../../src/observe/peers/queries.ts';
import { DATA_FORMAT } from '../../src/state/redis/data-mark.ts';
import { CHANNEL, keyOf, QUESTIONS, responsesFor } from '../../src/state/redis/key-names.ts';
import { readScript, SCRIPTS } from '../../src/state/redis/scripts.ts';
import {
  EVERYTHING_CHANGED,
  entryAppended,
  subjectBanned,
  subjectChanged,
} from '../../src/state/redis/subscriber.ts';
import { line } from './shape.ts';

/** What gateways of two versions share on one Redis. */
export function* redis(): Generator<string> {
  yield line('redis data', [`version ${DATA_FORMAT}`]);
  for (const name of namesIn(keyOf)) yield `redis key ${name}`;
  for (const name of [CHANNEL, QUESTIONS, responsesFor('*')]) yield `redis channel ${name}`;
  for (const message of [
    subjectChanged('*'),
    subjectBanned('*'),
    entryAppended('*'),
    EVERYTHING_CHANGED,
  ])
    yield `redis message ${message}`;
  for (const { name } of QUERIES) yield `redis query ${name}`;
  for (const file of readdirSync(SCRIPTS, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.lua')) continue;
    if (!file.includes('/')) yield line(`redis script ${file}`, [digestOf(readScript(file).text)]);
    for (const field of fieldsIn(readFileSync(join(SCRIPTS, file), 'utf8')))
      yield `redis hash field ${field}`;
  }
}

function namesIn(names: unknown): readonly string[] {
  if (typeof names === 'function') return [names('*')];
  return typeof names === 'string' ? [names] : Object.values(names as object).flatMap(namesIn);
}

/** Without comments, which change nothing. */
function digestOf(text: string): string {
  return createHash('sha1')
    .update(text.replace(/^\s*--.*\n|^\s*\n/gm, ''))
    .digest('hex');
}

/** The literal names in commands such as HSET. */
function fieldsIn(text: string): readonly string[] {
  const commands = text.matchAll(/redis\.p?call\('H[A-Z]+',([^)]*)\)/g);
  return [...commands].flatMap(([, rest]) =>
    [...rest!.matchAll(/'(\w+)'/g)].map(([, field]) => field!),
  );
}

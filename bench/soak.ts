import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hashSecret, makeKeyId, makeSecret } from '../src/records/keys/secret.ts';
import type { Options } from './arguments.ts';
import { cpuTime, residentMemory } from './cpu.ts';
import { load } from './load.ts';
import { checkouts, withSurroundings } from './surroundings.ts';
import { storegate } from './targets/storegate.ts';
import { prepareStoregate } from './targets/storegate-process.ts';
import type { Surroundings } from './targets/target.ts';
import { prepare, WrongAnswer } from './verify.ts';
import { requestOf, works } from './work.ts';

const KEYS = 1_000_000;
const SECONDS = 10;

/** A million keys in turn at full speed against embedded state; the commit before, then today. */
export async function soak(options: Options, minutes: number): Promise<void> {
  await withSurroundings(async (surroundings) => {
    for (const { name, folder } of checkouts(options.before, surroundings.children.folder)) {
      console.error(`${name}: making ${KEYS} keys`);
      await measure(name, folder, { ...options, minutes }, surroundings);
    }
  });
}

async function measure(
  name: string,
  project: string,
  options: Options & { readonly minutes: number },
  surroundings: Surroundings,
): Promise<void> {
  const get = works.find((work) => work.name === 'get')!;
  const { children } = surroundings;
  const file = join(children.folder, 'keys');
  const prepared = await prepareStoregate(name, surroundings, {
    project,
    prepare: (data) => makeKeys(data, file),
  });
  const running = { ...prepared, ...(await children.start(prepared.command)) };
  const { pid } = running;
  await prepare(storegate, running, get);
  const request = requestOf(get, running.url, running.keys);
  console.log(`${name}\nseconds    requests  keys seen   RSS MiB  CPU us/request`);
  const started = performance.now();
  let requests = 0;
  while (performance.now() - started < options.minutes * 60_000) {
    const before = cpuTime(pid);
    const script = takeTurns(file, requests % KEYS);
    const { connections } = options;
    const result = await load(request, {
      seconds: SECONDS,
      connections,
      folder: children.folder,
      script,
    });
    if (result.refusals + result.failures > 0) {
      throw new WrongAnswer(
        `${result.refusals} of ${result.requests} requests were refused, ${result.failures} not answered, ${result.timeouts} of them in time`,
      );
    }
    requests += result.requests;
    const cells = [
      ((performance.now() - started) / 1_000).toFixed(0).padStart(7),
      String(requests).padStart(11),
      String(Math.min(requests, KEYS)).padStart(10),
      (residentMemory(pid) / 2 ** 20).toFixed(0).padStart(9),
      ((cpuTime(pid) - before) / result.requests).toFixed(1).padStart(15),
    ];
    console.log(cells.join(' '));
  }
  await running.stop();
}

/**
 * Writes copies of the admitted key directly into the gateway's file, because a million commands
 * would take hours.
 */
function makeKeys(data: string, file: string): void {
  const db = new DatabaseSync(join(data, 'state.db'));
  const [row] = db.prepare("SELECT record FROM keys WHERE record ->> 'plan' = 'large'").all();
  const model = JSON.parse(String(row!.record)) as Record<string, unknown>;
  const insert = db.prepare('INSERT INTO keys (id, hash, record) VALUES (?, ?, ?)');
  const secrets = Array.from({ length: KEYS }, () => makeSecret('bench'));
  db.exec('BEGIN');
  for (const secret of secrets) {
    const own = { id: makeKeyId(), hash: hashSecret(secret) };
    insert.run(own.id, own.hash, JSON.stringify({ ...model, ...own }));
  }
  db.exec('COMMIT');
  db.close();
  writeFileSync(file, secrets.join(''), { mode: 0o600 });
}

/** All keys have one length, so that the file needs no index. `first`: the key to continue with. */
function takeTurns(file: string, first: number): string {
  const { length } = makeSecret('bench');
  return `
local f = io.open(${JSON.stringify(file)}, 'rb')
local keys = f:read('*a')
f:close()
local at, length, count = ${first}, ${length}, ${KEYS}
function request()
  wrk.headers['x-api-key'] = string.sub(keys, at * length + 1, (at + 1) * length)
  at = (at + 1) % count
  return wrk.format()
end
`;
}

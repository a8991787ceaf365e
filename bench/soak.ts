import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeSecret } from '../src/records/keys/secret.ts';
import type { Options } from './arguments.ts';
import { cpuTime, residentMemory } from './cpu.ts';
import { load, lua } from './load.ts';
import { checkouts, withSurroundings } from './surroundings.ts';
import { printHead, printRow } from './table.ts';
import { storegate } from './targets/storegate.ts';
import { startStoregate } from './targets/storegate-process.ts';
import { prepare } from './verify.ts';
import { requestOf, works } from './work.ts';

const KEYS = 1_000_000;
const SECONDS = 10;

/** A million keys in turn at full speed against embedded state; the commit before, then today. */
export async function soak({ before, soak, connections }: Options): Promise<void> {
  const work = works.find(({ name }) => name === 'get')!;
  await withSurroundings(async (surroundings) => {
    const { folder } = surroundings.children;
    for (const { name, folder: project } of checkouts(before, folder)) {
      console.error(`${name}: making ${KEYS} keys`);
      const file = join(folder, 'keys');
      const secrets = Array.from({ length: KEYS }, () => makeSecret('bench'));
      writeFileSync(file, secrets.join(''), { mode: 0o600 });
      const keys = secrets.map((key) => ({ key, account: 'bench', plan: 'large' }));
      const running = await startStoregate(name, surroundings, { project, keys });
      const { pid, port } = running;
      await prepare({ target: storegate, running, work });
      console.log(`\n${name}\n`);
      printHead('seconds', 'requests', 'keys seen', 'RSS MiB', 'CPU µs/request');
      const started = performance.now();
      let requests = 0;
      while (performance.now() - started < soak * 60_000) {
        const cpu = cpuTime(pid);
        const script = takeTurns(file, requests % KEYS);
        const options = { seconds: SECONDS, connections, folder, script };
        const result = await load(requestOf(work, port), options);
        if (result.refusals + result.failures > 0)
          throw new Error(
            `${result.refusals} of ${result.requests} requests were refused, ${result.failures} not answered in time`,
          );
        requests += result.requests;
        printRow(
          ((performance.now() - started) / 1_000).toFixed(0),
          `${requests}`,
          `${Math.min(requests, KEYS)}`,
          (residentMemory(pid) / 2 ** 20).toFixed(0),
          ((cpuTime(pid) - cpu) / result.requests).toFixed(1),
        );
      }
      await running.stop();
    }
  });
}

/** All keys have one length, so that the file needs no index. `first`: the key to continue with. */
function takeTurns(file: string, first: number): string {
  const { length } = makeSecret('bench');
  return `
local f = io.open(${lua(file)}, 'rb')
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

/**
 * Which requests the gateway, express-openapi-validator and Prism take, of those of which OpenAPI 3.0.3 and the RFCs say whether they are
 * valid. One command, with the packages of bench/ installed:
 *
 *     node --disable-warning=ExperimentalWarning bench/contract-peers.ts
 *
 * It prints a table, and with `--wrong` each wrong verdict. The cases and their document are in `letter/`. All get the same
 * bytes over sockets. An answer of 2xx is a request that was taken, one of 4xx a refusal, and anything else is wrong.
 */

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeSecret } from '../src/keys/secret.ts';
import { freePort } from '../test/support/free-port.ts';
import { type Child, Children, type Command } from './children.ts';
import { cases, document } from './letter/document.ts';
import type { Case } from './letter/subject.ts';
import { statusOf } from './letter/wire.ts';
import { prepareStoregate } from './targets/storegate-process.ts';

const { values: options } = parseArgs({ options: { wrong: { type: 'boolean' } } });

interface Peer {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Starts it, also after it has died. */
  readonly start: () => Promise<Child>;
}

const root = new URL('.', import.meta.url).pathname;
const children = new Children();
const backend = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});

try {
  await run();
} finally {
  backend.close();
  backend.closeAllConnections();
  await children.close();
}

async function run(): Promise<void> {
  const file = join(children.folder, 'contract.json');
  writeFileSync(file, JSON.stringify(document));
  const backendPort = await freePort();
  backend.listen(backendPort, '127.0.0.1');
  const store = { url: `http://127.0.0.1:${backendPort}`, port: backendPort, pid: process.pid };
  const peers = [await storegate(file, store), await validator(file), await prism(file, store.url)];
  for (const peer of peers) await peer.start();
  const wrong = new Map<Peer, { readonly one: Case; readonly status: number }[]>(peers.map((peer) => [peer, []]));
  for (const one of cases) {
    for (const peer of peers) {
      const status = await statusOf(peer.url, one.request, peer.headers);
      // Some requests end the process of a peer.
      if (status === 0 && !(await answers(peer))) await peer.start();
      const isRight = one.valid ? status >= 200 && status < 300 : status >= 400 && status < 500;
      if (!isRight) wrong.get(peer)!.push({ one, status });
    }
  }
  print(peers, wrong);
}

async function answers({ url, headers }: Peer): Promise<boolean> {
  return (await statusOf(url, { method: 'GET', target: '/routes/mine' }, headers)) !== 0;
}

/** With `leniency: omit`: an operation that it cannot serve does not exist, and is not held against the rest. */
async function storegate(file: string, store: { url: string; port: number; pid: number }): Promise<Peer> {
  const keys = { admitted: makeSecret('bench'), refused: makeSecret('bench'), unknown: makeSecret('bench') };
  const surroundings = { children, backend: store, redis: null, node: process.execPath, keys };
  const { command, url, keys: made } = await prepareStoregate('storegate', surroundings, {});
  appendFileSync(command.env!.STOREGATE_CONFIG!, 'contract:\n  leniency: omit\n');
  const env = { ...command.env, STOREGATE_CONTRACT: file };
  return {
    name: 'storegate',
    url,
    headers: { 'X-API-Key': made.admitted },
    start: () => start({ ...command, env }),
  };
}

async function validator(file: string): Promise<Peer> {
  const port = await freePort();
  const args = [join(root, 'servers/express-openapi-validator.ts')];
  const env = { PORT: String(port), CONTRACT: file, NODE_ENV: 'production' };
  const version = versionOf(join(root, '../node_modules/express-openapi-validator'));
  return {
    name: `express-openapi-validator ${version}`,
    url: `http://127.0.0.1:${port}`,
    headers: {},
    start: () => start({ name: 'validator', file: process.execPath, args, env, port }),
  };
}

async function prism(file: string, store: string): Promise<Peer> {
  const port = await freePort();
  const folder = join(root, 'node_modules/@stoplight/prism-cli');
  const args = [join(folder, 'dist/index.js'), 'proxy', file, store, '--errors', '-p', String(port), '-v', 'error'];
  return {
    name: `Prism ${versionOf(folder)}`,
    url: `http://127.0.0.1:${port}`,
    headers: {},
    start: () => start({ name: 'prism', file: process.execPath, args, port }),
  };
}

function start(command: Omit<Command, 'place'>): Promise<Child> {
  return children.start({ ...command, place: 'anywhere' });
}

function versionOf(folder: string): string {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}

function print(peers: readonly Peer[], wrong: ReadonlyMap<Peer, readonly { one: Case; status: number }[]>): void {
  console.log(`| cases | | ${peers.map(({ name }) => name).join(' | ')} |`);
  console.log(`|---|--:|${peers.map(() => '--:').join('|')}|`);
  const line = (name: string, all: readonly Case[]) => {
    const cells = peers.map((peer) => all.length - wrong.get(peer)!.filter(({ one }) => all.includes(one)).length);
    console.log(`| ${name} | ${all.length} | ${cells.join(' | ')} |`);
  };
  for (const [group, all] of Map.groupBy(cases, (one) => one.group)) line(group, all);
  line('**all**', cases);
  for (const valid of [true, false])
    line(
      valid ? 'valid' : 'not valid',
      cases.filter((one) => one.valid === valid),
    );
  if (options.wrong !== true) return;
  for (const peer of peers) {
    console.log(`\n${peer.name}\n`);
    for (const { one, status } of wrong.get(peer)!) {
      const { group, name, source, valid } = one;
      const verdict = valid ? 'refused' : 'taken';
      const what = status === 0 ? 'no answer' : status >= 200 && status < 500 ? verdict : `answered ${status}`;
      console.log(`- ${what}: ${group}, ${name} (${source})`);
    }
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { program } from '../runner/programs.ts';
import { adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { blocksOf } from '../support/shell-pages.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/recipes.md'), 'utf8');
const temporary = temporaryFolders();
const go = ['/usr/bin/go', '/usr/local/go/bin/go'].find((path) => existsSync(path));

/** So short that each example needs several windows. As many workers as all examples have. */
const PLANS = `
plans:
  workers: { windows: [{ limit: 50, per: 2s }] }
  shared: { windows: [{ limit: 150, per: 2s }] }
  one: { windows: [{ limit: 4, per: 2s }] }
  wide: { windows: [{ limit: 1000, per: day }] }
  billed: { windows: [{ limit: 1000, per: minute }, { limit: 5, per: month, kind: calendar, overage: true }] }
  watched: { enforce: false, windows: [{ limit: 5, per: day }] }
bans: { workers: 120, strikes: 3 }
`;

interface Recipe {
  readonly plan: string;
  readonly requests: number;
  readonly command: readonly string[];
  readonly main: string;
  /**
   * A main program that makes one client, sends a request for each argument (method and path) and
   * prints each status.
   */
  readonly calls: string;
}

const PYTHON = `import os, sys
from client import Client
client = Client(os.environ["API"], os.environ["KEY"])
for call in sys.argv[1:]:
    method, path = call.split()
    print(client.send(method, path, None if method == "GET" else b"{}").status)
`;

const JAVASCRIPT = `import { Client } from './client.mjs';
const client = new Client(process.env.API, process.env.KEY);
for (const call of process.argv.slice(2)) {
  const [method, path] = call.split(' ');
  const body = method === 'GET' ? undefined : '{}';
  console.log((await client.send(method, path, body)).status);
}
`;

const SHELL = `. ./client.sh
for call in "$@"; do
  set -- $call
  case $1 in
    GET) send $1 $2 ;;
    *) send $1 $2 -d '{}' ;;
  esac
  echo $status
done
`;

const GO = `package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	client := &Client{Key: os.Getenv("KEY")}
	for _, call := range os.Args[1:] {
		parts := strings.Fields(call)
		request, _ := http.NewRequest(parts[0], os.Getenv("API")+parts[1], nil)
		if parts[0] != "GET" {
			request, _ = http.NewRequest(parts[0], os.Getenv("API")+parts[1], strings.NewReader("{}"))
		}
		response, err := client.Do(request)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(response.StatusCode)
	}
}
`;

const WORKERS = { plan: 'workers', requests: 120 };
const RECIPES: Readonly<Record<string, Recipe>> = {
  Python: { ...WORKERS, command: [program('python3')], main: 'main.py', calls: PYTHON },
  JavaScript: { ...WORKERS, command: [process.execPath], main: 'main.mjs', calls: JAVASCRIPT },
  shell: { plan: 'one', requests: 10, command: ['/bin/sh'], main: 'main.sh', calls: SHELL },
  ...(go !== undefined && {
    Go: { ...WORKERS, command: [go, 'run', 'client.go'], main: 'main.go', calls: GO },
  }),
};
const LANGUAGES = Object.keys(RECIPES);

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the example of the page, or `calls` in its place. */
async function run(
  language: string,
  env: { readonly API: string; readonly KEY: string },
  calls: readonly string[] = [],
): Promise<Ended> {
  const { command, main, calls: program } = RECIPES[language]!;
  const folder = temporary();
  for (const { file, text } of blocksOf(page))
    if (file !== null) writeFileSync(join(folder, file), text);
  if (calls.length > 0) writeFileSync(join(folder, main), program);
  const [executable, ...options] = command;
  const child = spawn(executable!, [...options, main, ...calls], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      GOCACHE: join(homedir(), '.cache/go-build'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

/** Of all languages at once: they wait most of the time. */
const ofAll = async <T>(languages: readonly string[], of: (language: string) => Promise<T>) =>
  Object.fromEntries(
    await Promise.all(languages.map(async (language) => [language, await of(language)] as const)),
  );

const complete = (language: string): Ended => ({
  code: 0,
  out: '200\n'.repeat(RECIPES[language]!.requests),
  err: '',
});

/** gofmt gives each import, brace and check of an error a line of its own. */
const MOST_LINES = { 'client.py': 40, 'client.mjs': 40, 'client.go': 80, 'client.sh': 40 };

test.each(Object.entries(MOST_LINES))('%s has at most %d lines of code', (name, most) => {
  const { text: code } = blocksOf(page).find(({ file }) => file === name)!;
  expect(code.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(most);
});

(go === undefined ? test.skip : test)('Go is installed, and its recipe is run too', () => {
  expect(LANGUAGES).toContain('Go');
});

describe('the recipes of docs/recipes.md', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await TestGateway.start({ plans: PLANS });
    // The clients have the clock of the machine.
    Object.defineProperty(gateway.clock, 'now', { get: Date.now });
  });
  afterAll(() => gateway.stop());

  const keyOf = (language: string) => gateway.key({ plan: RECIPES[language]!.plan });
  const statuses = (keyId: string) =>
    gateway.log.filter((line) => line.keyId === keyId).map(({ status }) => status);

  test('get all responses and are never refused while each is alone on its key', async () => {
    const seen = await ofAll(LANGUAGES, async (language) => {
      const { id, secret } = await keyOf(language);
      const ended = await run(language, { API: gateway.url, KEY: secret });
      return { ...ended, statuses: statuses(id) };
    });
    const expected = await ofAll(LANGUAGES, async (language) => ({
      ...complete(language),
      statuses: Array(RECIPES[language]!.requests).fill(200),
    }));
    expect(seen).toEqual(expected);
  });

  test.each(['billed', 'watched'])(
    'wait for no window that does not refuse, on the plan %s',
    async (plan) => {
      const calls = Array(8).fill('GET /pets');
      const seen = await ofAll(LANGUAGES, async (language) => {
        const { secret } = await gateway.key({ plan });
        return await run(language, { API: gateway.url, KEY: secret }, calls);
      });
      const ended = { code: 0, out: '200\n'.repeat(calls.length), err: '' };
      expect(seen).toEqual(await ofAll(LANGUAGES, async () => ended));
    },
  );

  test('get all responses without a ban while they share a key', async () => {
    const sharing = LANGUAGES.filter((language) => RECIPES[language]!.plan === 'workers');
    const { id, secret } = await gateway.key({ plan: 'shared' });
    const seen = await ofAll(sharing, (language) =>
      run(language, { API: gateway.url, KEY: secret }),
    );
    expect(seen).toEqual(await ofAll(sharing, async (language) => complete(language)));
    expect(statuses(id)).not.toContain(403);
  });

  test.each(LANGUAGES)(
    '%s: stops all workers after the first response of a ban',
    async (language) => {
      const { id, secret } = await keyOf(language);
      const ban = { duration: '1h', reason: 'a test' };
      expect((await adminOf(gateway.adminUrl)('PUT', `/bans/${id}`, ban)).status).toBe(200);
      const { code, err } = await run(language, { API: gateway.url, KEY: secret });
      expect({ code, statuses: statuses(id) }).toEqual({ code: 1, statuses: [403] });
      expect(err).toMatch(/This API key is banned.*Retry-After: 3[56]\d\d/);
    },
  );

  test('stop with the reason after 401', async () => {
    const seen = await ofAll(LANGUAGES, (language) =>
      run(language, { API: gateway.url, KEY: 'unknown' }),
    );
    const reason = expect.stringMatching(/The API key is not valid.*401/);
    const refused = { code: 1, out: '', err: reason };
    expect(seen).toEqual(await ofAll(LANGUAGES, async () => refused));
  });
});

/** What each call returns in the end, if the first response has the status in its path. */
const STATUSES = {
  'GET /502': 502,
  'POST /504': 504,
  'GET /503': 200,
  'POST /503': 200,
  'GET /404': 404,
  'PUT /500': 500,
};

describe('a recipe behind a backend that fails once', () => {
  let gateway: TestGateway;
  let backend: FakeBackend;
  beforeAll(async () => {
    const failed = new Set<string>();
    const target = ({ method, url, headers }: IncomingMessage) =>
      `${headers['x-storegate-key-id']} ${method} ${url}`;
    backend = await fakeBackend((request, response) => {
      const status = Number(/\d{3}/.exec(request.url!));
      const isFirst = !failed.has(target(request));
      failed.add(target(request));
      if (status === 503) response.setHeader('Retry-After', '1');
      response.writeHead(isFirst ? status : 200).end();
    });
    gateway = await TestGateway.start({
      plans: PLANS,
      settings: 'contract: { file: none }',
      backendUrl: backend.url,
    });
    Object.defineProperty(gateway.clock, 'now', { get: Date.now });
  });
  afterAll(async () => {
    await gateway.stop();
    await backend.close();
  });

  test('repeats only what was not processed, in all languages', async () => {
    const seen = await ofAll(LANGUAGES, async (language) => {
      const { secret } = await gateway.key({ plan: 'wide' });
      return await run(language, { API: gateway.url, KEY: secret }, Object.keys(STATUSES));
    });
    const ended = { code: 0, out: `${Object.values(STATUSES).join('\n')}\n`, err: '' };
    expect(seen).toEqual(await ofAll(LANGUAGES, async () => ended));
  });
});

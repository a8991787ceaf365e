import { describe, expect, test } from '@jest/globals';
import { KIND_NAMES } from '../src/limits/kinds.ts';
import { exportedTypes, importedNames } from './support/exported-types.ts';
import { IGNORED_CALLS, ignoredCalls } from './support/ignored-calls.ts';
import {
  circles,
  ENTRY_POINTS,
  FILES,
  folderOf,
  type Import,
  importsIn,
  textOf,
} from './support/imports.ts';

/** From the bottom up. A folder imports only folders of lower layers, types included. */
const LAYERS: readonly (readonly string[])[] = [
  ['admin-api', 'http1', 'openapi', 'pages'],
  ['console', 'reference'],
  ['limits'],
  ['common'],
  ['config'],
  ['observe'],
  ['ledger'],
  ['state'],
  ['records'],
  ['webhooks'],
  ['gateway', 'admin', 'store'],
  ['run'],
  ['cli'],
  ['newer-node.js'],
  ['main.js'],
];

const layerOf = (folder: string) => LAYERS.findIndex((layer) => layer.includes(folder));
const inside = (folder: string) => (path: string) => path.startsWith(`${folder}/`);
const isOurs = (path: string) => path.endsWith('.ts');

interface Rule {
  readonly name: string;
  readonly breaks: (one: Import) => boolean;
  readonly planted: Import;
}

const isEmbedded = (path: string) => /^(state|records)\/embedded\//.test(path);
const isRedis = (path: string) => /^(state|records)\/redis\//.test(path);
const isState = (path: string) => inside('state')(path) || inside('records')(path);
const knowsNode = (path: string) =>
  ['http1', 'admin', 'store'].includes(folderOf(path)) ||
  ['gateway/upstream/target-proxy.ts', 'common/http-fetch.ts'].includes(path);
const composes = (path: string) => ['run', 'cli'].includes(folderOf(path));

const PACKAGES: readonly string[] = [
  'admin-api',
  'http1',
  'openapi',
  'pages',
  'console',
  'reference',
];
const isPackage = (path: string) => PACKAGES.includes(folderOf(path));

const rules: readonly Rule[] = [
  {
    name: 'packages import nothing of src',
    breaks: ({ from, to }) => isPackage(from) && isOurs(to) && !isPackage(to),
    planted: { from: 'http1/heads.ts', to: 'common/errors/refusals.ts' },
  },
  {
    name: 'packages are imported by their entry points only',
    breaks: ({ from, to }) =>
      isPackage(to) && folderOf(from) !== folderOf(to) && !ENTRY_POINTS.includes(to),
    planted: { from: 'gateway/wire/listener.ts', to: 'http1/server.ts' },
  },
  {
    name: 'a folder imports only folders of the layers below its own',
    breaks: ({ from, to }) =>
      isOurs(to) &&
      folderOf(from) !== folderOf(to) &&
      layerOf(folderOf(from)) <= layerOf(folderOf(to)),
    planted: { from: 'records/keys/keyring.ts', to: 'admin/api.ts' },
  },
  {
    name: 'only run and cli open a state',
    breaks: ({ from, to }) => (isEmbedded(to) || isRedis(to)) && !composes(from) && !isState(from),
    planted: { from: 'gateway/own/usage.ts', to: 'records/redis/open.ts' },
  },
  {
    name: 'the states know the ports, and not each other',
    breaks: ({ from, to }) =>
      (isEmbedded(from) && isRedis(to)) ||
      (isRedis(from) && isEmbedded(to)) ||
      (inside('state/shared')(from) && (isEmbedded(to) || isRedis(to))),
    planted: { from: 'state/shared/shared-state.ts', to: 'state/redis/counters.ts' },
  },
  {
    name: 'only the Redis state knows ioredis',
    breaks: ({ from, to }) => to === 'ioredis' && !inside('state/redis')(from),
    planted: { from: 'state/shared/batches.ts', to: 'ioredis' },
  },
  {
    name: 'only tracing knows OpenTelemetry',
    breaks: ({ from, to }) => to.startsWith('@opentelemetry/') && !inside('observe/tracing')(from),
    planted: { from: 'gateway/stages/request-guard.ts', to: '@opentelemetry/api' },
  },
  {
    name: 'the rules of limits have no side effects: they import nothing but each other',
    breaks: ({ from, to }) => inside('limits')(from) && !inside('limits')(to),
    planted: { from: 'limits/admission.ts', to: 'node:fs' },
  },
  {
    name: 'the store stands alone, and only the command line knows it: it can be deleted',
    breaks: ({ from, to }) =>
      (inside('store')(from) && isOurs(to) && !inside('store')(to)) ||
      (inside('store')(to) && !inside('store')(from) && !inside('cli')(from)),
    planted: { from: 'run/serving.ts', to: 'store/store.ts' },
  },
  {
    name: 'the command line does not reach into the gateway',
    breaks: ({ from, to }) => inside('cli')(from) && inside('gateway')(to),
    planted: { from: 'cli/commands/local.ts', to: 'gateway/stages/request-guard.ts' },
  },
  {
    name: 'only run/workers knows that there are several processes, and only the loader of contracts, systemd and newer-node.js start others',
    breaks: ({ from, to }) =>
      /^(node:)?(cluster|child_process)$/.test(to) &&
      !inside('run/workers')(from) &&
      !['run/contracts/starter.ts', 'run/systemd.ts', 'newer-node.js'].includes(from),
    planted: { from: 'run/gateway.ts', to: 'node:cluster' },
  },
  {
    name: 'requests are carried by our own HTTP/1.1: Node has only the admin API, the store and the inside of targets',
    breaks: ({ from, to }) => /^(node:)?(http|https|http2)$/.test(to) && !knowsNode(from),
    planted: { from: 'gateway/wire/listener.ts', to: 'node:http' },
  },
  {
    name: 'nothing asks by undici: the wire is our own, and the command line has the fetch of Node',
    breaks: ({ to }) => to === 'undici',
    planted: { from: 'gateway/upstream/connections.ts', to: 'undici' },
  },
];

const imports = FILES.flatMap((file) => importsIn(file, textOf(file)));
const described = ({ from, to }: Import) => `${from} imports ${to}`;

describe('the layers', () => {
  test('are checked with every kind of import, types too', () => {
    const text = [
      "import a from 'one';",
      "import type { B } from './two.ts';",
      "export { c } from '../three.ts';",
      "import {\n  d,\n} from './four.ts';",
      "const e = await import('./five.ts');",
      "let f: import('./six.ts').F;",
      "import './seven.ts';",
      "const { METHODS } = process.getBuiltinModule('node:eight');",
    ].join('\n');
    const found = importsIn('folder/file.ts', text).map(({ to }) => to);
    expect(found.sort()).toEqual(
      [
        'one',
        'folder/two.ts',
        'three.ts',
        'folder/four.ts',
        'folder/five.ts',
        'folder/six.ts',
        'folder/seven.ts',
        'node:eight',
      ].sort(),
    );
    expect(imports.length).toBeGreaterThan(1_000);
  });

  test('have every folder in a layer', () => {
    const folders = new Set(FILES.filter((file) => !file.endsWith('.d.ts')).map(folderOf));
    expect([...folders].filter((folder) => layerOf(folder) < 0)).toEqual([]);
  });

  test.each(rules)('$name', ({ breaks, planted }) => {
    expect(imports.filter(breaks).map(described)).toEqual([]);
    expect(breaks(planted)).toBe(true);
  });

  test('no two files import each other, directly or indirectly, types included', () => {
    expect(circles(imports)).toEqual([]);
    const [first, second] = [imports.find(({ to }) => isOurs(to))!, { from: 'a.ts', to: 'b.ts' }];
    const planted = [
      first,
      { from: first.to, to: first.from },
      second,
      { from: 'b.ts', to: 'c.ts' },
    ];
    expect(
      circles([...planted, { from: 'c.ts', to: 'a.ts' }]).map((files) => files.length),
    ).toEqual([2, 3]);
  });
});

const KIND = `['"\`](${KIND_NAMES.join('|')})['"\`]`;

/** Text that only some files may have. */
const words: readonly {
  name: string;
  pattern: RegExp;
  allowed: (file: string) => boolean;
  planted: string | readonly string[];
}[] = [
  {
    name: 'only a stage marks its own result: another order of stages does not compile',
    pattern: /\bas (?:unknown as )?(?:Target|KnownClient|Admitted|Checked)\b/,
    allowed: (file) =>
      /^gateway\/stages\/(request-guard|authenticate|admit|anonymous|contract)\.ts$/.test(file),
    planted: 'const admitted = client as unknown as Admitted;',
  },
  {
    name: 'only gateway/reply/ writes to callers',
    pattern:
      /\bcall\.(respond|begin|write|flush|end|cutOff|switchProtocols)\(|\b(near|socket)\.write\(/,
    allowed: (file) => !inside('gateway')(file) || inside('gateway/reply')(file),
    planted: [
      "exchange.call.respond(200, '', [], '');",
      "call.begin(200, '', []);",
      'call.write(bytes, resume);',
      'call.flush();',
      'call.end();',
      'call.cutOff();',
      "const { socket } = call.switchProtocols('', []);",
      'socket.write(bytes);',
    ],
  },
  {
    name: 'only one place makes what listens to requests, the same for workers as for the only process',
    pattern: /(?<!function )\bcreate(RecentRequests|Ledger)\(/,
    allowed: (file) => file === 'run/process.ts',
    planted: 'const ledger = createLedger(options);',
  },
  {
    name: 'the gateway writes no answer of a server of Node',
    pattern: /\bresponse\.(end|writeHead|write|setHeader)\(/,
    allowed: (file) => !inside('gateway')(file),
    planted: 'response.end();',
  },
  {
    name: 'only http1 opens and takes connections of callers and stores',
    pattern:
      /import \{[^}]*\b(?:createServer|connect|createConnection)\b[^}]*\} from '(?:node:)?(?:net|tls)'/,
    allowed: inside('http1'),
    planted: "import { connect, isIP } from 'node:net';",
  },
  {
    name: 'node:http is not imported, except for types: an import reads all its exports, and so loads undici',
    pattern: /^import (?!type\b)[^;]*'(?:node:)?http'/m,
    allowed: () => false,
    planted: "import { METHODS } from 'node:http';",
  },
  {
    name: 'private fields of Node.js and of libraries are used in one file',
    pattern: /(?<!this)\??\._[a-z]|\b_handle\b/,
    allowed: (file) => file === 'http1/internals.ts',
    planted: ['socket._write(text);', 'const { _handle: handle } = socket;'],
  },
  {
    name: 'packages are loaded by their entries, and their classes stay unchanged',
    pattern: /createRequire\([^)]*\)\(|\.prototype as\b|\b(?!Bag)[A-Z]\w+\.prototype\.\w+ = /,
    allowed: () => false,
    planted: [
      "const lib = createRequire(import.meta.url)('lib/private.js');",
      'const open = Redis.prototype as unknown as Open;',
      'Redis.prototype.connect = connect;',
    ],
  },
  {
    name: 'no key prefix of Redis is written outside the Redis state',
    pattern: /['"`]sg:/,
    allowed: inside('state/redis'),
    planted: "const name = 'sg:other';",
  },
  {
    name: 'only the table of kinds compares kinds of windows',
    pattern: new RegExp(`[!=]==?\\s*${KIND}|${KIND}\\s*[!=]==?|\\bcase\\s+${KIND}`),
    allowed: (file) => file === 'limits/kinds.ts',
    planted: "if (window.kind === 'fixed') open();",
  },
  {
    name: 'the own paths of the gateway are written once',
    pattern: /(['"`}\s])\/(openapi\.(json|yaml)|docs\/?|usage)(?=['"`\s?;,])/,
    allowed: (file) => inside('admin')(file) || file === 'common/reserved-paths.ts',
    planted: "if (path === '/usage') serve();",
  },
];

describe('text that belongs to one place', () => {
  test.each(words)('$name', ({ pattern, allowed, planted }) => {
    expect(FILES.filter((file) => !allowed(file) && pattern.test(textOf(file)))).toEqual([]);
    expect([planted].flat().filter((mistake) => !pattern.test(mistake))).toEqual([]);
  });
});

test('a type of src is exported only if another file imports it', () => {
  const imported = importedNames();
  const unused = (file: string, text: string) =>
    exportedTypes(text).flatMap((name) => (imported.has(name) ? [] : [`${file} ${name}`]));
  const files = FILES.filter((file) => !isPackage(file));
  expect(files.flatMap((file) => unused(file, textOf(file)))).toEqual([]);
  expect(unused('a.ts', 'export type Own = 1;\nexport interface Event {}')).toEqual(['a.ts Own']);
});

describe('a promise', () => {
  // biome accepts `void PROMISE` for a floating promise, whose failure is lost.
  test('is ignored with void only in listed places, where no failure is lost', () => {
    expect([...new Set(FILES.flatMap((file) => ignoredCalls(file, textOf(file))))].sort()).toEqual(
      [...IGNORED_CALLS].sort(),
    );
    const planted = ignoredCalls(
      'webhooks/deliveries.ts',
      'if (sent) void outbox.move(id, mark, to);',
    );
    expect(planted.filter((call) => !IGNORED_CALLS.includes(call))).toEqual([
      'webhooks/deliveries.ts outbox.move',
    ]);
  });
});

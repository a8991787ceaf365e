import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { program } from '../runner/programs.ts';
import { commandLine } from './command-line.ts';
import { freePort } from './free-port.ts';

const root = resolve(import.meta.dirname, '../..');

/** A shell block of a page, or a file that a reader creates between two blocks. */
export interface Block {
  readonly line: number;
  readonly text: string;
  /** The nearest heading above it. */
  readonly heading: string;
  /** `<!-- setup … -->`: the test runs the lines, and no reader sees them. */
  readonly isHidden: boolean;
  /** `<!-- file: NAME -->`: the block is the content of this file. */
  readonly file: string | null;
  /** `<!-- not run: REASON -->` */
  readonly notRun: string | null;
  /** `<!-- Ctrl-C -->`: the reader stops the gateways first. */
  readonly stops: boolean;
  /** What the page shows below the block. */
  readonly output: string | null;
}

const BLOCK =
  /(?:<!-- (not run|file|Ctrl-C)(?:: ([^\n]*?))? -->\n+)?^( *)```(sh|yaml|json|csv|python|js|go)\n([\s\S]*?)^ *```$(?:\n\n? *```\n([\s\S]*?)^ *```$)?/gm;

const SETUP = /^( *)<!-- setup\n([\s\S]*?)^ *-->$/gm;

/** In the order of the page. */
export function blocksOf(page: string): Block[] {
  const shown = [...page.matchAll(BLOCK)].flatMap(
    ({ index, 1: marker, 2: value = '', 3: indent = '', 4: language, 5: text = '', 6: output }) => {
      if (language !== 'sh' && marker !== 'file') return [];
      const block = {
        ...placeOf(page, index),
        text: flush(text, indent),
        isHidden: false,
        file: marker === 'file' ? value : null,
        notRun: marker === 'not run' ? value : null,
        stops: marker === 'Ctrl-C',
        output: output === undefined ? null : flush(output, indent),
      };
      return [{ index, block }];
    },
  );
  const hidden = [...page.matchAll(SETUP)].map(({ index, 1: indent = '', 2: text = '' }) => ({
    index,
    block: { ...placeOf(page, index), text: flush(text, indent), ...HIDDEN },
  }));
  return [...shown, ...hidden].sort((a, b) => a.index - b.index).map(({ block }) => block);
}

const HIDDEN = { isHidden: true, file: null, notRun: null, stops: false, output: null };

const flush = (block: string, indent: string): string =>
  block.replaceAll(new RegExp(`^${indent}`, 'gm'), '');

function placeOf(page: string, index: number): Pick<Block, 'line' | 'heading'> {
  const above = page.slice(0, index);
  // A comment in a block is not a heading.
  const text = above.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)];
  return { line: above.split('\n').length, heading: headings.at(-1)?.[1] ?? '' };
}

/**
 * Numbers, times and ids differ from run to run, and 127.0.0.1 stands for localhost; spaces align
 * columns.
 */
export function shapeOf(line: string): string {
  return line
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '0')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '0')
    .replaceAll(/\b(key|sg_live|sg_test)_\w+…?/g, '$1_0')
    .replaceAll(/\d+(?:\.\d+)?/g, '0')
    .replaceAll('0.0', 'localhost')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** The lines of `output`, in order, that are missing in `printed`. A `…` stands for any text. */
export function missingLines(output: string, printed: string): string[] {
  const lines = printed.split('\n').map(shapeOf);
  let next = 0;
  return output.split('\n').filter((line) => {
    const shape = shapeOf(line);
    if (shape === '' || shape === '…') return false;
    const pattern = new RegExp(
      `^${shape
        .split('…')
        .map((part) => RegExp.escape(part))
        .join('.*')}$`,
    );
    const found = lines.findIndex((one, index) => index >= next && pattern.test(one));
    if (found >= 0) next = found + 1;
    return found < 0;
  });
}

/** Ports in the pages, each replaced by a free one. */
const PORTS = ['8080', '8090', '9901', '9902', '3000', '3001', '6379'] as const;
type Ports = Record<(typeof PORTS)[number], number>;

interface Call {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly input: string;
}

/**
 * Shell commands as calls of this process, where all modules are loaded: a tenth of the cost of a
 * process each.
 */
class Commands {
  readonly #gateways = new Map<
    string,
    { stop: AbortController; ended: Promise<{ code: number; err: string }> }
  >();
  readonly #server = createServer((request, response) => {
    void this.#answer(request).then((text) => response.end(text));
  });
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await this.#stopAll();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #stopAll(): Promise<void> {
    for (const gateway of this.#gateways.keys()) await this.#stop(gateway);
  }

  async #stop(name: string): Promise<void> {
    const gateway = this.#gateways.get(name);
    this.#gateways.delete(name);
    gateway?.stop.abort();
    await gateway?.ended;
  }

  async #answer(request: IncomingMessage): Promise<string> {
    const { code, out, err } = await this.#run(parseCall(await buffer(request), this.#ports));
    return `${code}\n${out}${err}`;
  }

  async #run({ args, cwd, env, input }: Call): Promise<{ code: number; out: string; err: string }> {
    if (args[0] === 'ctrl-c') {
      await this.#stopAll();
      return { code: 0, out: '', err: '' };
    }
    const isInit = args[0] === 'init';
    if (args[0] !== 'serve' && !isInit) return commandLine(cwd)(args, { env, input });
    const name = env.STOREGATE_ADMIN_PORT!;
    await this.#stop(name);
    const stop = new AbortController();
    const { promise: started, resolve: start } = Promise.withResolvers<string>();
    let out = '';
    const running = commandLine(cwd, (text) => {
      out += text;
      if (!isInit || text.startsWith('Press')) start(out);
    });
    const ended = running(args, {
      env: { ...env, LOG_LEVEL: 'silent' },
      isTerminal: true,
      stop: stop.signal,
    });
    this.#gateways.set(name, { stop, ended });
    const first = await Promise.race([started, ended]);
    return typeof first === 'string' ? { code: 0, out: first, err: '' } : first;
  }
}

const OURS = /^(?:STOREGATE_|STORE_|REDIS_|OTEL_|LOG_)/;

/**
 * `npx` in the shell sends: folder, number of arguments, arguments, environment, nothing, standard
 * input.
 */
function parseCall(sent: Buffer, ports: Ports): Call {
  const [cwd = '', count = '0', ...rest] = sent.toString().split('\0');
  const args = rest.slice(0, Number(count));
  const end = rest.indexOf('', Number(count));
  const pairs = rest
    .slice(Number(count), end)
    .map((pair) => pair.split(/=(.*)/s, 2) as [string, string]);
  const isOwn = args[0] === 'init' || existsSync(join(cwd, 'gateway.yaml'));
  const env = {
    ...(isOwn ? {} : { STOREGATE_CONFIG: 'config/gateway.yaml', STOREGATE_PLANS: 'plans.yaml' }),
    STOREGATE_HOST: '127.0.0.1',
    STOREGATE_PORT: `${ports[8080]}`,
    STOREGATE_ADMIN_PORT: `${ports[9901]}`,
    STOREGATE_DATA: 'data',
    ...Object.fromEntries(pairs.filter(([name]) => OURS.test(name))),
  };
  return { args, cwd, env, input: rest.slice(end + 1).join('\0') };
}

/**
 * `npx storegate` and `npm` of the pages. Standard input is sent only for commands that read it.
 */
const NPX = `#!/bin/bash
[ "$1" = storegate ] && shift
{
  printf '%s\\0' "$PWD" "$#" "$@"; env -0; printf '\\0'
  case " $* " in *" identify "*|*" - "*) cat;; esac
} | curl -s --data-binary @- "http://127.0.0.1:$DOCS_PORT/" > "$DOCS_OUT.$$"
{ IFS= read -r code; cat; } < "$DOCS_OUT.$$"
rm "$DOCS_OUT.$$"; exit "\${code:-99}"
`;
const NPM = `#!/bin/bash
case "$1" in ci) ;; start) exec npx storegate serve;; *) echo "npm $* is not known here"; exit 1;; esac
`;

export interface PageRun {
  readonly code: number | null;
  /** Blocks after a failed block are missing. */
  readonly printed: readonly string[];
}

export async function runPage(
  page: string,
  folder: string,
  given: Partial<Ports> = {},
): Promise<PageRun> {
  // Pages read the JSON of commands with it.
  program('jq');
  const ports = { ...given } as Ports;
  for (const port of PORTS) ports[port] ??= await freePort();
  const api = createServer((_, response) =>
    response.setHeader('Content-Type', 'application/json').end('[]\n'),
  );
  api.listen(ports[3000], '127.0.0.1');
  const commands = new Commands(ports);
  const bin = join(folder, '.bin');
  const work = join(folder, 'work');
  mkdirSync(bin);
  mkdirSync(join(work, 'config'), { recursive: true });
  writeFileSync(join(bin, 'npx'), NPX, { mode: 0o755 });
  writeFileSync(join(bin, 'npm'), NPM, { mode: 0o755 });
  for (const file of ['plans.yaml', 'config/gateway.yaml', 'deploy/kubernetes'])
    cpSync(join(root, file), join(work, file), { recursive: true });
  const translated = (text: string) =>
    text.replaceAll(
      /\b(?:8080|8090|9901|9902|3000|3001|6379)\b/g,
      (port) => `${ports[port as keyof Ports]}`,
    );
  const run = blocksOf(page).filter(({ notRun }) => notRun === null);
  const script = run.map(({ file, text, stops }, index) => {
    const lines = `${stops ? 'npx storegate ctrl-c\n' : ''}${translated(text)}`;
    return `exec >'${folder}/${index}.out' 2>&1\n${file === null ? lines : `cat > '${file}' <<'END OF FILE'\n${lines}END OF FILE`}\n`;
  });
  const { HOME, PATH } = process.env;
  try {
    const env = {
      HOME,
      PATH: `${bin}:${PATH}`,
      DOCS_PORT: `${await commands.listen()}`,
      DOCS_OUT: join(folder, 'call'),
    };
    const shell = spawn('bash', ['-e', '-o', 'pipefail', '-c', script.join('')], {
      cwd: work,
      env,
      stdio: 'ignore',
    });
    const [code] = (await once(shell, 'close')) as [number | null];
    const read = (index: number) => {
      try {
        return [readFileSync(join(folder, `${index}.out`), 'utf8')];
      } catch {
        return [];
      }
    };
    return { code, printed: run.flatMap((_, index) => read(index)) };
  } finally {
    await commands.close();
    api.closeAllConnections();
    api.close();
  }
}

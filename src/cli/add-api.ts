import { readFileSync, statSync } from 'node:fs';
import {
  Document,
  isMap,
  isSeq,
  type Node,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import { replaceFile } from '../common/folder.ts';
import type { Config } from '../config/config.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import {
  gatewayFile,
  type LoadOptions,
  loadConfig,
  shippedFiles,
} from '../config/load.ts';
import { ConfigError, formatProblem } from '../config/problems/problems.ts';
import { indented, lineAfter, spliced } from '../config/yaml/splice.ts';
import { checkConfig } from './check.ts';
import { CommandError } from './connect/api.ts';
import {
  type InitOptions,
  print,
  printNotes,
  readInputs,
} from './init-inputs.ts';
import type { Terminal } from './terminal.ts';

/**
 * Adds an entry to `apis` of an existing gateway.yaml. Changes nothing unless all settings and
 * contracts are valid with it.
 */
export async function addApi(
  terminal: Terminal,
  options: InitOptions,
  folder: string,
): Promise<void> {
  const { name, path, host } = options;
  if (name === undefined)
    throw new CommandError('--name is missing: the name of the API', {
      failure: 'usage',
    });
  const files = { cwd: folder, env: terminal.env };
  const file = gatewayFile(files);
  if (file === shippedFiles.gateway)
    throw new CommandError(
      `${folder} has no gateway.yaml. Write it with storegate init, without --add.`,
    );
  const text = readFileSync(file, 'utf8');
  const before = loadConfig({ ...files, text });
  const inputs = await readInputs(terminal, options, folder);
  const { contract } = inputs.document;
  const entry = {
    name,
    path,
    host,
    contract: contractOf(inputs, options),
    upstream: { url: inputs.backend },
    // As init without --add.
    ...(before.keys.headers === null &&
      !contract.isForGateway && { keys: { headers: ['X-API-Key'] } }),
  };
  const next = withApi(text, entry);
  const config = load({ ...files, text: next }, before);
  await checkConfig(terminal, config);
  if (config.apis[0]!.backends === null && before.apis[0]!.backends !== null)
    print(
      terminal,
      'Note',
      'paths that no API has get 404 from now on: outside apis, neither contract.file nor upstream is set',
    );
  printNotes(terminal, config.apis.at(-1)!, contract);
  await write(file, text, next);
  print(terminal, 'Written', `the API ${name} in ${file}`);
  print(
    terminal,
    'Next',
    'npx storegate reload; a running gateway also reloads a changed file by itself',
  );
}

function contractOf(
  { file, document }: Awaited<ReturnType<typeof readInputs>>,
  { requests }: InitOptions,
) {
  const { onUnsupported } = document;
  const changed = {
    ...(requests !== undefined && file !== NO_CONTRACT && { requests }),
    ...(onUnsupported !== 'refuse' && { onUnsupported }),
  };
  return Object.keys(changed).length === 0 ? file : { file, ...changed };
}

/** The settings are valid without the new entry, so that its mistakes are those of the options. */
function load(options: LoadOptions, before: Config): Config {
  try {
    return loadConfig(options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const own = `apis[${before.apis.length - 1}]`;
    const lines = error.problems.map((problem) => {
      const { place, message } = problem;
      if (!place.path.startsWith(own)) return formatProblem(problem);
      const [field] = place.path.slice(own.length + 1).split('.');
      const option = field === 'upstream' ? 'backend' : field;
      return option ? `--${option} ${message}` : `The API ${message}`;
    });
    throw new CommandError(lines.join('\n'), { failure: 'usage' });
  }
}

/** @param text that `loadConfig` has accepted */
export function withApi(text: string, entry: object): string {
  const document = parseDocument(text);
  const { contents } = document;
  // {}: nothing is set.
  if (isMap(contents) && contents.items.length === 0) contents.flow = false;
  const apis = document.get('apis', true);
  const last = isSeq<Node>(apis) && !apis.flow ? apis.items.at(-1) : undefined;
  const node = nodeOf(document, entry);
  if (isSeq(apis)) apis.add(node);
  else document.set('apis', document.createNode([node]));

  const start = last === undefined ? text.length : lineAfter(text, last);
  const indent = last === undefined ? 2 : columnOf(text, last) - '- '.length;
  const block = [
    text[start - 1] === '\n' ? '' : '\n',
    last === undefined ? 'apis:\n' : '',
    indented(new Document([node]).toString({ lineWidth: 0 }), indent),
  ].join('');
  return spliced(text, document, { start, end: start, block });
}

function columnOf(text: string, { range }: Node): number {
  const [start] = range!;
  return start - text.lastIndexOf('\n', start) - 1;
}

function nodeOf(document: Document, entry: object): Node {
  const node = document.createNode(entry) as YAMLMap;
  for (const { value } of node.items) if (isMap(value)) value.flow = true;
  return node;
}

async function write(file: string, before: string, text: string) {
  try {
    if (readFileSync(file, 'utf8') === before)
      return await replaceFile(file, text, statSync(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CommandError(`${file} cannot be written (${code}).`);
  }
  throw new CommandError(`${file} has changed meanwhile. Run it again.`);
}

import { readFileSync, statSync } from 'node:fs';
import {
  isAlias,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { printable, unescapeToken } from '../names.ts';
import { exact } from '../numbers.ts';
import { ContractError, type Problem } from '../problems.ts';
import { readAliases, TOO_MANY_NODES } from './aliases.ts';
import { readJsonSource } from './json-source.ts';
import { LIMITS, parseWithin, TOO_DEEP, TOO_MANY_TOKENS } from './limits.ts';
import { type Places, SourceText, type Tokens } from './places.ts';

type Collection = YAMLMap | YAMLSeq;

/** Later errors of the syntax often follow from earlier ones. */
const MOST_ERRORS = 100;

export type Json = Record<string, unknown>;

/** Or a list. */
export const isAnObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;

export const isObject = (value: unknown): value is Json =>
  isAnObject(value) && !Array.isArray(value);

export const objectsIn = (value: unknown): Json[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

export const isReference = ({ $ref }: Json): boolean =>
  typeof $ref === 'string';

export interface SourceFile {
  readonly file: string;
  readonly text?: string | undefined;
}

export interface Source {
  readonly text: string;
  readonly root: unknown;
}

/**
 * Integers outside the safe range become bigints in any notation (`1e23`).
 *
 * @throws ContractError if the file cannot be read, is not YAML 1.2 or has a value that JSON cannot
 * express (RFC 8259).
 */
export function readSource(
  { file, text = readText(file) }: SourceFile,
  places: Places,
): Source {
  const source = new SourceText(file, text);
  return {
    text,
    root: readJsonSource(source, places) ?? readYaml(source, places),
  };
}

function readYaml(source: SourceText, places: Places): unknown {
  const document = parseWithin(source.text, LIMITS.tokens, {
    intAsBigInt: true,
    prettyErrors: false,
    stringKeys: true,
  });
  const fail = (offset: number, tokens: Tokens, message: string): never => {
    throw new ContractError([source.problem(offset, tokens, message)]);
  };
  if (typeof document === 'number') return fail(document, [], TOO_MANY_TOKENS);
  // All further errors follow from it.
  const tooDeep = document.errors.find(
    ({ code }) => code === 'RESOURCE_EXHAUSTION',
  );
  if (tooDeep) return fail(tooDeep.pos[0], [], TOO_DEEP);
  const problems: Problem[] = document.errors
    .filter(({ code, pos }) => !isMergeTag(code, source.text.slice(pos[0])))
    .slice(0, MOST_ERRORS)
    .map(({ pos, message }) => source.problem(pos[0], [], message));
  const { targets, depths, excess } = readAliases(document);
  if (excess !== null)
    problems.push(source.problem(excess.range![0], [], TOO_MANY_NODES));
  const read = new Map<Node, unknown>();

  function value(node: Node | null, tokens: Tokens): unknown {
    const target = (isAlias(node) ? targets.get(node) : node) as
      | Scalar
      | Collection
      | null
      | undefined;
    if (isAlias(node) && !target)
      problems.push(
        source.problem(
          node.range![0],
          tokens,
          `the alias *${node.source} has no anchor before it`,
        ),
      );
    if (!target) return null;
    if (isScalar(target)) return scalar(target, tokens);
    const inside = isAlias(node) ? (depths.get(target) ?? 0) : 1;
    if (tokens.length + inside > LIMITS.depth)
      fail(node!.range![0], tokens, TOO_DEEP);
    if (!read.has(target)) return collection(target, tokens);
    const cached = read.get(target);
    if (cached === undefined)
      problems.push(
        source.problem(
          node!.range![0],
          tokens,
          'an alias must not contain itself',
        ),
      );
    return cached ?? null;
  }

  function collection(node: Collection, tokens: Tokens): unknown {
    read.set(node, undefined);
    const result: Json | unknown[] = isSeq(node) ? [] : {};
    const merged = new Map<string, Json>();
    const offset = (key: string | number | null): number => {
      const from = merged.get(String(key));
      return from === undefined
        ? offsetIn(node, key)
        : places.origin(from).offset(key);
    };
    places.set(result, { source, tokens, offset });
    if (isSeq(node))
      node.items.forEach(
        (item, i) =>
          void (result as unknown[]).push(value(item as Node, [...tokens, i])),
      );
    else members(node, tokens, result as Json, merged);
    read.set(node, result);
    return result;
  }

  /** Members of their own take precedence over merged ones, wherever `<<` stands. */
  function members(
    { items }: YAMLMap,
    tokens: Tokens,
    result: Json,
    merged: Map<string, Json>,
  ): void {
    for (const pair of items) {
      const name = pair.key as Scalar;
      const key = String(name.value);
      const member = () => value(pair.value as Node | null, [...tokens, key]);
      if (isMergeKey(name)) merge(member(), name, tokens, merged);
      else if (key === '__proto__' || !key.isWellFormed()) {
        problems.push(
          source.problem(
            name.range![0],
            tokens,
            `the name ${printable(key)} is not supported`,
          ),
        );
      } else result[key] = member();
    }
    for (const [key, from] of merged) {
      if (Object.hasOwn(result, key)) merged.delete(key);
      else result[key] = from[key];
    }
  }

  /** Of several maps, the first has precedence (https://yaml.org/type/merge.html). */
  function merge(
    found: unknown,
    { range }: Scalar,
    tokens: Tokens,
    merged: Map<string, Json>,
  ): void {
    for (const from of Array.isArray(found) ? found : [found]) {
      if (!isObject(from)) {
        problems.push(
          source.problem(
            range![0],
            tokens,
            'the merge key << must have a map or a list of maps',
          ),
        );
        return;
      }
      for (const key of Object.keys(from))
        if (!merged.has(key)) merged.set(key, from);
    }
  }

  function scalar(
    { value, range, source: written }: Scalar,
    tokens: Tokens,
  ): unknown {
    if (typeof value === 'bigint')
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    if (
      typeof value === 'number' &&
      Number.isInteger(value) &&
      !Number.isSafeInteger(value)
    )
      return exact((written ?? '').replace(/^\+/, '')) ?? value;
    if (
      (typeof value === 'number' && !Number.isFinite(value)) ||
      (typeof value === 'object' && value !== null)
    ) {
      problems.push(
        source.problem(range![0], tokens, 'is a value that JSON does not have'),
      );
    }
    if (typeof value === 'string' && !value.isWellFormed()) {
      problems.push(
        source.problem(range![0], tokens, 'has half a surrogate pair'),
      );
    }
    return value;
  }

  const root = problems.length > 0 ? null : value(document.contents, []);
  if (problems.length > 0) throw new ContractError(problems);
  return root;
}

/** The library refuses this key: it has another tag than a string. */
const isMergeTag = (code: string, text: string) =>
  code === 'NON_STRING_KEY' &&
  /^(?:!!merge|!<tag:yaml\.org,2002:merge>)\s+<</.test(text);

/** In quotes, it is a name. */
const isMergeKey = ({ type, value }: Scalar) =>
  value === '<<' && type === 'PLAIN';

function offsetIn(node: Collection, key: string | number | null): number {
  const own = node.range![0];
  if (key === null) return own;
  if (isSeq(node))
    return (node.items[Number(key)] as Node | undefined)?.range?.[0] ?? own;
  const name = node.items.find(
    (pair) => isScalar(pair.key) && String(pair.key.value) === String(key),
  )?.key;
  return (name as Node | undefined)?.range?.[0] ?? own;
}

function readText(file: string): string {
  try {
    const status = statSync(file);
    // A pipe or a device could block for ever or never end.
    if (!status.isFile() && !status.isDirectory())
      throw unread(file, 'must be a regular file');
    if (status.size > LIMITS.bytes)
      throw unread(file, `must be at most ${LIMITS.bytes} bytes; split it`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof ContractError) throw error;
    const reason =
      error instanceof TypeError
        ? 'is not UTF-8'
        : `cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw unread(file, reason);
  }
}

const unread = (file: string, message: string) =>
  new ContractError([{ file, place: '', message }]);

/** `undefined` if the percent-encoding or its UTF-8 is not valid. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** JSON pointer (RFC 6901). */
export function follow(root: unknown, pointer: string): unknown {
  if (pointer === '') return root;
  if (!pointer.startsWith('/')) return undefined;
  let value = root;
  for (const token of pointer.slice(1).split('/').map(unescapeToken)) {
    if (
      typeof value !== 'object' ||
      value === null ||
      !Object.hasOwn(value, token)
    )
      return undefined;
    value = (value as Json)[token];
  }
  return value;
}

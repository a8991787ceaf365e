import { Bag } from '../bag.ts';
import type { Json } from '../document/source.ts';
import { refuse } from '../faults.ts';
import { escapeToken, printable } from '../names.ts';
import type { Shape } from './shape.ts';
import type { DeepEntry } from './styles.ts';

/** qs takes deeper brackets for a part of the name. */
const DEEPEST = 5;

/**
 * Names with several brackets. Readers of queries have similar limits, and more would take too long
 * in one step.
 */
const MOST = 4_096;

const NAME = /^([^[]+)((?:\[[^[\]]*\])+)$/;

/** `null` without brackets, or with brackets that servers read differently. */
export function readBrackets(
  name: string,
): { readonly root: string; readonly path: readonly string[] } | null {
  const [, root, brackets] = NAME.exec(name) ?? [];
  if (root === undefined) return null;
  const path = brackets!.slice(1, -1).split('][');
  return path.length > DEEPEST ? null : { root, path };
}

type ReadText = (text: string, shape: Shape | null, pointer: string) => unknown;

/**
 * Lists are `a[]=x&a[]=y`, `a[0]=x&a[1]=y` or, below the first level, `a[b]=x&a[b]=y`, as qs,
 * axios, Rails and PHP send them. OpenAPI does not define deeper levels. @throws Unreadable
 */
export function readDeep(
  entries: readonly DeepEntry[],
  shape: Shape | null,
  readText: ReadText,
  pointer = '',
  depth = 0,
): unknown {
  if (entries.length > MOST)
    refuse(`has more than ${MOST} members in brackets`, 'complexity', pointer);
  const types = shape?.types ?? null;
  const texts = entries.flatMap(([path, text]) => (path.length === depth ? [text] : []));
  if (texts.length === entries.length) {
    if (types?.has('array'))
      return texts.map((text, i) => readText(text, shape!.items, `${pointer}/${i}`));
    if (texts.length === 1) return readText(texts[0]!, shape, pointer);
  }
  if (texts.length > 0) refuse('is given more than once', 'repeated', pointer);
  const mayBeList = types === null || types.has('array');
  const groups = groupsOf(entries, depth, mayBeList);
  if (mayBeList && isList([...groups.keys()])) {
    const items = shape?.items ?? null;
    return [...groups.values()].map((group, i) =>
      readDeep(group, items, readText, `${pointer}/${i}`, depth + 1),
    );
  }
  if (types?.has('array') && !types.has('object'))
    refuse('must be written like a[]=x&a[]=y or a[0]=x&a[1]=y', 'style', pointer);
  const object = new Bag();
  for (const [name, group] of groups) {
    const member = shape?.members.get(name) ?? shape?.others ?? null;
    object[name] = readDeep(
      group,
      member,
      readText,
      `${pointer}/${escapeToken(printable(name))}`,
      depth + 1,
    );
  }
  return object;
}

/** By the name at this depth. Each `[]` is an entry of a list. */
function groupsOf(
  entries: readonly DeepEntry[],
  depth: number,
  mayBeList: boolean,
): ReadonlyMap<string, readonly DeepEntry[]> {
  const groups = new Map<string, DeepEntry[]>();
  const appended =
    mayBeList && entries.every(([path]) => path[depth] === '' && path.length === depth + 1);
  for (const [i, entry] of entries.entries()) {
    const name = appended ? String(i) : entry[0][depth]!;
    const group = groups.get(name);
    if (group) group.push(entry);
    else groups.set(name, [entry]);
  }
  return groups;
}

const isList = (names: readonly string[]): boolean => names.every((name, i) => name === String(i));

/** Whether an object has members that need more brackets than a name may have. */
export function isTooDeep(shape: Shape): boolean {
  const seen = new Set<Json | null>();
  let level: readonly (Shape | null)[] = [shape];
  for (let depth = 0; depth < DEEPEST; depth++) {
    level = level.flatMap((one) => {
      if (one === null || seen.has(one.schema)) return [];
      seen.add(one.schema);
      return [...one.members.values(), one.items, one.others];
    });
  }
  return level.some((one) => one?.types?.has('object') && !seen.has(one.schema));
}

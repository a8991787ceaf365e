import type { Document } from './document/document.ts';
import type { Json } from './document/source.ts';
import { byPlace, type Findings, type Mistake } from './findings.ts';
import { type Described, METHODS } from './operations.ts';
import type { Problem } from './problems.ts';
import { Reach } from './reach.ts';

export interface Assessment {
  readonly operations: ReadonlyMap<Json, readonly Problem[]>;
  readonly document: readonly Problem[];
  /** Unreadable files and mistakes in authentication, which cannot be tolerated. */
  readonly fatal: readonly Problem[];
  readonly unused: readonly Problem[];
}

const OF_ANSWERS: ReadonlySet<unknown> = new Set(['responses', 'callbacks']);

/** With `answers: false`, responses are not checked, and mistakes that only affect responses are `unused`. */
export function assess(
  document: Document,
  findings: Findings,
  operations: readonly Described[],
  { answers }: { readonly answers: boolean },
): Assessment {
  const { mistakes } = findings;
  const byOperation = new Map<Json, Set<Problem>>();
  const owned = new Set<Mistake>();
  const reach = new Reach(document, new Set(mistakes.flatMap(({ node }) => node ?? [])));
  for (const operation of mistakes.length > 0 ? operations : []) {
    const own = mistakesOf(operation, mistakes, document, reach, answers);
    if (own.length === 0) continue;
    const before = byOperation.get(operation.node) ?? [];
    byOperation.set(operation.node, new Set([...before, ...own.map(({ problem }) => problem)]));
    for (const mistake of own) owned.add(mistake);
  }
  const others = mistakes.filter((mistake) => mistake.node !== null && !owned.has(mistake));
  const [of, unused] = answers ? [others, []] : split(others, (mistake) => isOfDocument(mistake, document));
  return {
    operations: new Map([...byOperation].map(([node, problems]) => [node, [...problems].sort(byPlace)])),
    document: sorted(of),
    unused: sorted(unused),
    fatal: sorted(mistakes.filter(({ node }) => node === null)),
  };
}

function mistakesOf(
  { path, item, node }: Described,
  mistakes: readonly Mistake[],
  document: Document,
  reach: Reach,
  answers: boolean,
): Mistake[] {
  const parts = [node.parameters, node.requestBody, item.parameters, ...(answers ? [node.responses] : [])];
  const reached = reach.from(parts);
  return mistakes.filter(({ node: at, key }) => {
    if (at === null) return false;
    if (at === node) return answers || !OF_ANSWERS.has(key);
    if (at === item) return METHODS.has(key) ? item[key as string] === node : true;
    return reached.has(at) || (at === document.root.paths && key === path);
  });
}

function isOfDocument({ node }: Mistake, document: Document): boolean {
  const { root } = document;
  if ([root, root.info, root.paths, root.components].includes(node)) return true;
  return document.members(root.paths).some(([, item]) => document.object(item) === node);
}

const sorted = (mistakes: readonly Mistake[]): Problem[] => mistakes.map(({ problem }) => problem).sort(byPlace);

function split<T>(list: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  return [list.filter(test), list.filter((one) => !test(one))];
}

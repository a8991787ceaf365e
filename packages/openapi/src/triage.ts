import type { Kind } from './dialect/grammar.ts';
import type { Document } from './document/document.ts';
import {
  isAnObject,
  isObject,
  type Json,
  objectsIn,
} from './document/source.ts';
import { isOnNetwork } from './document/sources.ts';
import { byPlace, type Mistake } from './findings.ts';
import { type Description, METHODS } from './operations.ts';
import type { Treatment } from './options.ts';
import { formatProblem } from './problems.ts';
import type { Exempted } from './types.ts';

const OF_RESPONSES: ReadonlySet<unknown> = new Set(['responses', 'callbacks']);

/**
 * Unreadable files and mistakes in authentication are never tolerated. Mistakes that only affect
 * responses are, unless responses are checked. An operation that requests cannot match is omitted.
 */
export function triage<Described extends Description>(
  document: Document,
  described: readonly (readonly [Described, Json])[],
  canMatch: (operation: Described) => boolean,
) {
  const { mistakes } = document.findings;
  const { responses, onUnsupported = 'refuse' } = document.reading;
  const own = mistakesByOperation(
    document,
    mistakes,
    described,
    responses !== 'off',
  );
  const owned = new Set([...own.values()].flatMap((one) => [...one]));
  const others = mistakes.filter(
    (mistake) => mistake.node !== null && !owned.has(mistake),
  );
  if (onUnsupported === 'refuse') {
    const tolerated =
      responses === 'off'
        ? others.filter(createTolerance(document, described))
        : [];
    const refused = [...new Set(mistakes).difference(new Set(tolerated))];
    return {
      refused: problemsOf(refused),
      tolerated: problemsOf(tolerated),
      exempted: [],
      operations: described.map(([operation]) => operation),
    };
  }
  const exempted: Exempted[] = [];
  const operations = described.flatMap(([operation, node]) => {
    const problems = own.get(node);
    if (problems === undefined) return [operation];
    const treatment = canMatch(operation) ? onUnsupported : 'omit';
    const { id, method, path } = operation;
    exempted.push(
      Object.freeze({
        id,
        method,
        path,
        treatment,
        problems: problemsOf([...problems]),
      }),
    );
    if (treatment === 'omit') return [];
    return [
      {
        ...operation,
        exempt: treatment,
        ...(treatment === 'report' && { reportOnly: true }),
      },
    ];
  });
  const fatal = mistakes.filter(({ node }) => node === null);
  return {
    refused: problemsOf(fatal),
    tolerated: problemsOf(others),
    exempted,
    operations,
  };
}

const problemsOf = (mistakes: readonly Mistake[]) =>
  mistakes.map(({ problem }) => problem).sort(byPlace);

/** By node, which several paths may share. */
function mistakesByOperation(
  document: Document,
  mistakes: readonly Mistake[],
  described: readonly (readonly [Description, Json])[],
  withResponses: boolean,
): ReadonlyMap<Json, ReadonlySet<Mistake>> {
  const own = new Map<Json, Set<Mistake>>();
  if (mistakes.length === 0) return own;
  const reachedFrom = createReach(
    document,
    new Set(mistakes.flatMap(({ node }) => node ?? [])),
  );
  const { paths } = document.root;
  for (const [{ path }, node] of described) {
    const item = document.object((paths as Json)[path])!;
    const { parameters, requestBody, responses } = node;
    const reached = reachedFrom([
      ...objectsIn(parameters).map(ofKind('parameter')),
      ...[requestBody].filter(isObject).map(ofKind('requestBody')),
      ...objectsIn(item.parameters).map(ofKind('parameter')),
      ...[withResponses && responses].filter(isObject).map(ofKind('responses')),
    ]);
    const found = mistakes.filter(({ node: at, key }) => {
      if (at === null) return false;
      if (at === node) return withResponses || !OF_RESPONSES.has(key);
      if (at === item)
        return METHODS.has(key) ? item[key as string] === node : true;
      return reached.has(at) || (at === paths && key === path);
    });
    if (found.length > 0)
      own.set(node, new Set([...(own.get(node) ?? []), ...found]));
  }
  return own;
}

/**
 * What no request reaches is tolerated, except references of responses to missing files and to
 * nothing: a deployment may be incomplete.
 */
function createTolerance(
  document: Document,
  described: readonly (readonly [Description, Json])[],
) {
  const { root, findings } = document;
  const broken = findings.mistakes.flatMap(({ node, key }) => {
    if (key !== '$ref' || !isObject(node)) return [];
    return isOnNetwork(node.$ref) ? [] : [node];
  });
  const reached = createReach(
    document,
    new Set(broken),
  )(
    described
      .map(([, { responses }]) => responses)
      .filter(isObject)
      .map(ofKind('responses')),
  );
  const items = document
    .members(root.paths)
    .map(([, item]) => document.object(item));
  const own = new Set<unknown>([
    root,
    root.info,
    root.paths,
    root.components,
    ...items,
    ...reached,
  ]);
  return ({ node }: Mistake) => !own.has(node);
}

type Start = readonly [node: Json, kind: Kind];

const ofKind =
  (kind: Kind) =>
  (node: Json): Start => [node, kind];

/** Finds the wanted objects that references lead to. */
function createReach(document: Document, wanted: ReadonlySet<object>) {
  const units = new Map<Json, { wanted: object[]; targets: Start[] }>();

  function unitOf([root, kind]: Start) {
    const existing = units.get(root);
    if (existing) return existing;
    const targets = [...document.inside(root, kind)].flatMap(([node, of]) =>
      document
        .referencesOf(node, of)
        .map((ref) => document.target(ref))
        .filter((target) => target !== null)
        .map(ofKind(of)),
    );
    // Also in lists, in maps and in data, which have mistakes too.
    const inside = new Set<object>([root]);
    for (const node of inside)
      for (const value of Object.values(node))
        if (isAnObject(value)) inside.add(value);
    const unit = { wanted: [...inside.intersection(wanted)], targets };
    units.set(root, unit);
    return unit;
  }

  return (starts: readonly Start[]): ReadonlySet<object> => {
    const found = new Set<object>();
    const reached = new Map(starts);
    for (const start of reached) {
      const { wanted, targets } = unitOf(start);
      for (const one of wanted) found.add(one);
      for (const [target, kind] of targets)
        if (!reached.has(target)) reached.set(target, kind);
    }
    return found;
  };
}

const TREATED: Readonly<Record<Treatment, string>> = {
  omit: 'left out',
  report: 'only reports',
  pass: 'passes unchecked',
};

export function formatExempted(exempted: readonly Exempted[]): string[] {
  return exempted.map(({ id, method, path, treatment, problems }) => {
    const more =
      problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
    return `${id} (${method} ${path}) ${TREATED[treatment]}: ${formatProblem(problems[0]!)}${more}`;
  });
}

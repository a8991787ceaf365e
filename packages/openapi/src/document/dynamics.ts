import type { Resources } from './resources.ts';
import { follow, isObject, type Json } from './source.ts';

/**
 * Where dynamic references may lead (JSON Schema 2020-12 section 8.2.3.2): to the schema of the outermost resource that a check has
 * gone through. Resources have numbers, the document itself 0. Plain data.
 */
export interface Dynamics {
  /** The pointers of the dynamic anchors of each resource, by name. */
  readonly anchors: readonly ReadonlyMap<string, string>[];
  /** The resource that the target of a reference is in, by its pointer. */
  readonly targets: ReadonlyMap<string, number>;
  /** The resource that begins at a schema with this `x-id`. */
  readonly ids: ReadonlyMap<string, number>;
}

/** `home`: gives a schema its place in the bundled document, if it has none yet, and returns the reference to it. */
export function dynamicsOf(
  resources: Resources,
  root: Json,
  references: readonly Json[],
  home: (target: Json) => string,
): Dynamics {
  const bases = [...resources.all.keys()];
  const ids = new Map<string, number>();
  const anchors = [...resources.all.values()].map(({ anchors: all }) => {
    const dynamic = [...all].filter(([, { dynamic: is }]) => is);
    return new Map(dynamic.map(([name, { node }]) => [name, pointerIn(home(node))]));
  });
  const numberOf = (node: object): number => Math.max(bases.indexOf(resources.baseOf(node) ?? ''), 0);
  const targets = new Map<string, number>();
  for (const { $ref } of references) {
    const pointer = pointerIn(String($ref));
    const target = follow(root, pointer);
    if (isObject(target)) targets.set(pointer, numberOf(target));
  }
  for (const [number, { root: node }] of [...resources.all.values()].entries()) {
    if (isObject(node) && typeof node['x-id'] === 'string') ids.set(node['x-id'], number);
  }
  return { anchors, targets, ids };
}

const pointerIn = (ref: string): string => decodeURIComponent(ref.slice(1));

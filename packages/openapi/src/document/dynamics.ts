import type { Resources } from './resources.ts';
import { follow, isObject, type Json } from './source.ts';

/**
 * JSON Schema 2020-12 section 8.2.3.2: the outermost resource that a check passed through decides. Resource 0 is the
 * document.
 */
export interface Dynamics {
  /** By resource and name. */
  readonly anchors: readonly ReadonlyMap<string, string>[];
  readonly targets: ReadonlyMap<string, number>;
  readonly ids: ReadonlyMap<string, number>;
}

/** `home` places a schema in the bundled document if necessary, and returns the reference to it. */
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

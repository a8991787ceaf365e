export type LabelValue = string | number;

export type LabelNames =
  | readonly []
  | readonly [string]
  | readonly [string, string]
  | readonly [string, string, string];

export interface LabelTree<C> {
  /** Creates the cell on first use. Values in the order of the label names. */
  readonly find: (a?: LabelValue, b?: LabelValue, c?: LabelValue) => C;
  readonly all: readonly { readonly labels: Readonly<Record<string, LabelValue>>; readonly cell: C }[];
}

type Branch = Map<LabelValue | undefined, unknown>;

/** A tree of maps, so that counting a request allocates and hashes no label object or list. */
export function createLabelTree<C>(labelNames: LabelNames, make: () => C): LabelTree<C> {
  const root: Branch = new Map();
  const all: { readonly labels: Record<string, LabelValue>; readonly cell: C }[] = [];

  function grow(last: Branch, values: readonly (LabelValue | undefined)[]): C {
    const cell = make();
    last.set(values.at(-1), cell);
    all.push({ labels: Object.fromEntries(labelNames.map((name, i) => [name, values[i]!])), cell });
    return cell;
  }

  function finder(): LabelTree<C>['find'] {
    switch (labelNames.length) {
      case 0: {
        // A metric without labels starts at 0.
        const only = grow(root, []);
        return () => only;
      }
      case 1:
        return (a) => (root.get(a) as C | undefined) ?? grow(root, [a]);
      case 2:
        return (a, b) => {
          const last = branch(root, a);
          return (last.get(b) as C | undefined) ?? grow(last, [a, b]);
        };
      case 3:
        return (a, b, c) => {
          const last = branch(branch(root, a), b);
          return (last.get(c) as C | undefined) ?? grow(last, [a, b, c]);
        };
    }
  }

  return { find: finder(), all };
}

function branch(above: Branch, key: LabelValue | undefined): Branch {
  const known = above.get(key) as Branch | undefined;
  if (known !== undefined) return known;
  const below: Branch = new Map();
  above.set(key, below);
  return below;
}

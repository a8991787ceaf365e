import { printable } from './names.ts';

/** In characters. */
const NEAR = 2;
/** To bound the work for one name. */
const LONGEST = 64;
const MOST = 200;

/**
 * Of the names, the one before brackets, or the most similar one: at most two characters and a
 * third of it differ. Letter case is ignored.
 */
export function nearest(name: string, names: readonly string[]): string | null {
  if (name.length > LONGEST) return null;
  const root = name.split('[', 1)[0]!;
  if (root !== name && names.includes(root)) return root;
  const lower = name.toLowerCase();
  let found: string | null = null;
  let least = NEAR + 1;
  for (const candidate of names.slice(0, MOST)) {
    if (candidate === name) continue;
    const distance = editDistance(lower, candidate.toLowerCase());
    if (distance >= least || distance * 3 > candidate.length) continue;
    least = distance;
    found = candidate;
  }
  return found;
}

/** For the end of a message; empty if no name is similar. */
export function hint(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  return meant === null ? '' : `: did you mean ${printable(meant)}?`;
}

/** Two exchanged neighbours count once. Infinity if it is surely more than two. */
export function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > NEAR) return Infinity;
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(
        Math.min(
          replaced,
          row[j]! + 1,
          next[j - 1]! + 1,
          swapped ? before[j - 2]! + 1 : Infinity,
        ),
      );
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}

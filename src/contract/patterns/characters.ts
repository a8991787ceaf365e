/** A set of code points as sorted, disjoint ranges `[from, to]`, both ends in it. */
export type CharacterSet = readonly (readonly [from: number, to: number])[];

/** Two symbols that are no characters: what `^` and `$` read. */
export const TEXT_START = -1;
export const TEXT_END = -2;

/**
 * The characters that classes of regular expressions stand for. The engine itself is asked, over all of Unicode, so that
 * `\w`, `[^@]` and `\p{Lu}` mean here what they mean there. Costs some milliseconds per class: for load time only.
 */
export class Characters {
  readonly #sets = new Map<string, CharacterSet>();
  #alphabet = '';

  /** The set of a class or escape in regular expression source, such as `[^a-z]`, `\d` or `.`. */
  of(source: string): CharacterSet {
    let set = this.#sets.get(source);
    if (!set) {
      set = this.#measure(source);
      this.#sets.set(source, set);
    }
    return set;
  }

  #measure(source: string): CharacterSet {
    this.#alphabet ||= allCharacters();
    const ranges: [number, number][] = [];
    for (const [run] of this.#alphabet.matchAll(new RegExp(`${source}+`, 'gu'))) {
      ranges.push([run.codePointAt(0)!, lastCodePoint(run)]);
    }
    return ranges;
  }
}

function allCharacters(): string {
  const pages = Array.from({ length: 0x1100 }, (_, page) => {
    const characters = Array.from({ length: 0x100 }, (_, i) => page * 0x100 + i);
    return String.fromCodePoint(...characters.filter((c) => c < 0xd800 || c > 0xdfff));
  });
  return pages.join('');
}

function lastCodePoint(text: string): number {
  const last = text.codePointAt(text.length - 1)!;
  return last >= 0xdc00 && last <= 0xdfff ? text.codePointAt(text.length - 2)! : last;
}

export function overlap(a: CharacterSet, b: CharacterSet): boolean {
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i]![1] < b[j]![0]) i++;
    else if (b[j]![1] < a[i]![0]) j++;
    else return true;
  }
  return false;
}

export function includes(set: CharacterSet, character: number): boolean {
  let low = 0;
  let high = set.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [from, to] = set[middle]!;
    if (character < from) high = middle - 1;
    else if (character > to) low = middle + 1;
    else return true;
  }
  return false;
}

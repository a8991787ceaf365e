import { LargeMap } from './large-map.ts';

type Key = string | number | undefined;

/** Places by array or object; the root of a value has neither. */
export class Places {
  readonly #keys = new LargeMap<object | undefined, LargeMap<Key, true>>();

  add(holder?: object, key?: Key): void {
    let keys = this.#keys.get(holder);
    if (keys === undefined) {
      keys = new LargeMap();
      this.#keys.add(holder, keys);
    }
    keys.add(key, true);
  }

  has(holder: object | undefined, key: Key): boolean {
    return this.#keys.get(holder)?.has(key) === true;
  }

  /** The value that `other` describes is a member of `holder`. */
  join(other: Places, holder: object, key: Key): void {
    for (const [inner, keys] of other.#keys) {
      if (inner === undefined) this.add(holder, key);
      else this.#keys.add(inner, keys);
    }
  }
}

/** Facts about notation that a value itself lacks. */
export class Marks {
  /** Such as `1.0` and `1e2`. */
  readonly unlikeIntegers = new Places();
  /** Texts of forms in a place where a file is possible too. */
  readonly noFiles = new Places();
}

/** A value that was read. */
export interface Reading {
  readonly value: unknown;
  /** Nearly always missing, so that checks can skip the lookup. */
  readonly marks?: Marks | null;
}

/** Puts a value into one that is read, and adds its marks. */
export function put(
  holder: object,
  key: string | number,
  { value, marks }: Reading,
  all: Marks,
): void {
  (holder as Record<string | number, unknown>)[key] = value;
  if (!marks) return;
  all.unlikeIntegers.join(marks.unlikeIntegers, holder, key);
  all.noFiles.join(marks.noFiles, holder, key);
}

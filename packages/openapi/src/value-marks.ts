/** Marks of values, by the array or object that holds them: what a value itself does not say of how it was written. */
class ValueMarks {
  /** Whether there may be any; nearly always `false`, so that checks need not look. */
  any = false;
  /** Whether the value under check is one itself. */
  root = false;
  readonly #places = new WeakMap<object, Set<string | number>>();

  add(holder: object, key: string | number): void {
    this.any = true;
    const keys = this.#places.get(holder) ?? new Set();
    this.#places.set(holder, keys.add(key));
  }

  /** Runs the check of another value, such as a header, between the reading of these and their check. */
  during<T>(check: () => T): T {
    const { any } = this;
    const result = check();
    this.any ||= any;
    return result;
  }

  has(holder: object | undefined, key: string | number | undefined): boolean {
    return holder === undefined ? this.root : this.#places.get(holder)?.has(key!) === true;
  }
}

/**
 * The integers of JSON texts that are not written as integers, such as `1.0` and `1e2`. Their values are those of 1 and 100. Reading and
 * checking are synchronous, so all of them share it.
 */
export const unlikeIntegers = new ValueMarks();

/** The texts of forms that are no files where a file could have been in their place. */
export const noFiles = new ValueMarks();

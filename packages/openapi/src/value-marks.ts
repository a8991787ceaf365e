/** Facts about notation that a value itself lacks, by its array or object. */
class ValueMarks {
  /** Nearly always `false`, so that checks can skip the lookup. */
  any = false;
  root = false;
  readonly #places = new WeakMap<object, Set<string | number>>();

  add(holder: object, key: string | number): void {
    this.any = true;
    const keys = this.#places.get(holder) ?? new Set();
    this.#places.set(holder, keys.add(key));
  }

  /** For another value, such as a header, between reading and checking the marked values. */
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

/** Such as `1.0` and `1e2`. Reading and checking are synchronous, so all of them share it. */
export const unlikeIntegers = new ValueMarks();

/** Texts of forms in a place where a file is possible too. */
export const noFiles = new ValueMarks();

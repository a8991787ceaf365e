/** A value that is known in this process, or else a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

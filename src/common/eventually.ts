/** A value now, where it is known in this process, or a promise of one, where it is not. */
export type Eventually<T> = T | Promise<T>;

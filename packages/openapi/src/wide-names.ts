/** In names. */
export const WIDE = 1_000;

/**
 * The names of wide objects in the order in which they were read: `Object.keys` takes 20 ms for
 * 100,000.
 */
export const wideNames = new WeakMap<object, string[]>();

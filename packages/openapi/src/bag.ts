/**
 * V8 keeps it in its fast form (`Object.create(null)` creates a hash table). `__proto__` is an
 * ordinary member.
 */
export const Bag = function Bag() {} as unknown as new () => Record<
  string,
  unknown
>;
Bag.prototype = Object.create(null);

/** In names. */
export const WIDE = 1_000;

/**
 * The names of wide objects in the order in which they were read: `Object.keys` takes 20 ms for
 * 100,000.
 */
export const wideNames = new WeakMap<object, string[]>();

/**
 * V8 keeps it in its fast form (`Object.create(null)` creates a hash table). `__proto__` is an
 * ordinary member.
 */
export const Bag = function Bag() {} as unknown as new () => Record<string, unknown>;
Bag.prototype = Object.create(null);

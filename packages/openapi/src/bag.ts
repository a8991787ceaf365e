/**
 * Objects without a prototype that V8 still keeps in its fast form (`Object.create(null)` gives a hash table). A member
 * named `__proto__` or `constructor` is a member like any other.
 */
export const Bag = function Bag() {} as unknown as new () => Record<string, unknown>;
Bag.prototype = Object.create(null);

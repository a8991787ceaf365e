/**
 * An object without a prototype that V8 keeps in its fast form (`Object.create(null)` creates a hash table).
 * `__proto__` and `constructor` are ordinary members.
 */
export const Bag = function Bag() {} as unknown as new () => Record<string, unknown>;
Bag.prototype = Object.create(null);

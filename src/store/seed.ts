import type { Store } from './store.ts';

const SHELVES = [
  ['Cats', 'Small, soft and in charge.', ['Minka', 3n], ['Tiger', 1n]],
  ['Dogs', 'Glad that you are home.', ['Rex', 2n], ['Bella', 0n, 'sold']],
  ['Birds', 'They sing, whether you are awake or not.', ['Pico', 12n]],
  ['Fish', 'The quiet ones.', ['Nemo', 100n], ['Dory', 1n, 'pending']],
] as const;

export function seedStore({
  records: { categories, pets, inventory },
  transaction,
}: Store): boolean {
  return transaction(() => {
    if (categories.list({ from: 0n, size: 1n }).length > 0) return false;
    for (const [name, description, ...shelf] of SHELVES) {
      const { id: categoryId } = categories.add({ name, description });
      for (const [name, quantity, status] of shelf)
        inventory.replace(pets.add({ name, categoryId, status }).id, {
          quantity,
        });
    }
    return true;
  });
}

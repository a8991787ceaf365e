import type { Store } from './store.ts';

const shelves = [
  {
    category: { name: 'Cats', description: 'Small, soft and in charge.' },
    pets: [
      { name: 'Minka', stock: 3n },
      { name: 'Tiger', stock: 1n },
    ],
  },
  {
    category: { name: 'Dogs', description: 'Glad that you are home.' },
    pets: [
      { name: 'Rex', stock: 2n },
      { name: 'Bella', stock: 0n, status: 'sold' },
    ],
  },
  {
    category: { name: 'Birds', description: 'They sing, whether you are awake or not.' },
    pets: [{ name: 'Pico', stock: 12n }],
  },
  {
    category: { name: 'Fish', description: 'The quiet ones.' },
    pets: [
      { name: 'Nemo', stock: 100n },
      { name: 'Dory', stock: 1n, status: 'pending' },
    ],
  },
] as const;

/** Fills an empty store with a small catalogue, and answers whether it did. */
export function seedStore({ records }: Store): boolean {
  return records.transaction(() => {
    if (!records.isEmpty()) return false;
    for (const { category, pets } of shelves) {
      const { id: categoryId } = records.categories.add(category);
      for (const { stock, ...pet } of pets) {
        const { id } = records.pets.add({ ...pet, categoryId });
        records.inventory.set(id, stock);
      }
    }
    return true;
  });
}

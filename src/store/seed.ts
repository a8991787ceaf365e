import type { Store } from './store.ts';

const SEED = `BEGIN;
  INSERT INTO categories (id, name, description) VALUES
    (1, 'Cats', 'Small, soft and in charge.'),
    (2, 'Dogs', 'Glad that you are home.'),
    (3, 'Birds', 'They sing, whether you are awake or not.'),
    (4, 'Fish', 'The quiet ones.');
  INSERT INTO pets (name, categoryId, quantity, status) VALUES
    ('Minka', 1, 3, 'available'), ('Tiger', 1, 1, 'available'),
    ('Rex', 2, 2, 'available'), ('Bella', 2, 0, 'sold'),
    ('Pico', 3, 12, 'available'),
    ('Nemo', 4, 100, 'available'), ('Dory', 4, 1, 'pending');
  COMMIT`;

/** Leaves a store with data unchanged. */
export function seedStore({ db }: Store): void {
  const isEmpty = db.prepare('SELECT 1 FROM categories').get() === undefined;
  if (isEmpty) db.exec(SEED);
}

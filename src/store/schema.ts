/**
 * The migrations of the database: step n takes it from `user_version` n to n + 1. Never edit a released step; add one.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE sequences (
    name TEXT PRIMARY KEY,
    next INTEGER -- NULL: the last int64 has been assigned
  ) STRICT;

  CREATE TABLE categories (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT
  ) STRICT;

  -- A pet's stock is kept with the pet: there is no pet without an inventory entry and no entry without a pet.
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL REFERENCES categories (id),
    status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    stock INTEGER NOT NULL DEFAULT 0 CHECK (stock >= 0)
  ) STRICT;
  CREATE INDEX pets_by_category ON pets (category_id);
  CREATE INDEX pets_by_status ON pets (status);

  CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    pet_id INTEGER NOT NULL REFERENCES pets (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    ship_date TEXT,
    complete INTEGER NOT NULL CHECK (complete IN (0, 1))
  ) STRICT;
  CREATE INDEX orders_by_pet ON orders (pet_id);
  `,
];

/** Raises `<status> <code> <message>`. */
function rule(
  event: string,
  [status, code, message]: readonly [number, string, string],
  condition: string,
): string {
  const name = event.replaceAll(/\W/g, '_');
  return `CREATE TRIGGER IF NOT EXISTS ${code}_${name} ${event}
    WHEN ${condition} BEGIN SELECT RAISE(ABORT, '${status} ${code} ' || ${message}); END;`;
}

const UNKNOWN_CATEGORY = [
  422,
  'unknown_category',
  "'The category ' || new.categoryId || ' does not exist.'",
] as const;
const WITHOUT_CATEGORY = 'new.categoryId NOT IN (SELECT id FROM categories)';
const UNKNOWN_PET = [
  422,
  'unknown_pet',
  "'The pet ' || new.petId || ' does not exist.'",
] as const;
const WITHOUT_PET = 'new.petId NOT IN (SELECT id FROM pets)';

/**
 * AUTOINCREMENT: no identifier is assigned twice. Clients may choose those of orders, which are
 * never deleted.
 */
export const SCHEMA = `PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS categories (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, description TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, categoryId INTEGER NOT NULL,
    status TEXT NOT NULL, quantity INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE IF NOT EXISTS orders (
    id INTEGER PRIMARY KEY, petId INTEGER, quantity INTEGER NOT NULL, shipDate TEXT,
    complete INTEGER NOT NULL
  ) STRICT;
  CREATE TRIGGER IF NOT EXISTS order_placed AFTER INSERT ON orders BEGIN
    UPDATE pets SET quantity = quantity - new.quantity WHERE id = new.petId;
  END;
  CREATE TRIGGER IF NOT EXISTS order_changed AFTER UPDATE ON orders BEGIN
    UPDATE pets SET quantity = quantity + old.quantity WHERE id = old.petId;
    UPDATE pets SET quantity = quantity - new.quantity WHERE id = new.petId;
  END;
  ${[
    rule('BEFORE INSERT ON pets', UNKNOWN_CATEGORY, WITHOUT_CATEGORY),
    rule('BEFORE UPDATE ON pets', UNKNOWN_CATEGORY, WITHOUT_CATEGORY),
    rule(
      'BEFORE DELETE ON categories',
      [409, 'category_in_use', "'Category ' || old.id || ' still has pets.'"],
      'old.id IN (SELECT categoryId FROM pets)',
    ),
    rule(
      'BEFORE DELETE ON pets',
      [409, 'pet_has_orders', "'There are orders for pet ' || old.id || '.'"],
      'old.id IN (SELECT petId FROM orders)',
    ),
    rule(
      'BEFORE UPDATE ON pets',
      [
        409,
        'insufficient_stock',
        "'Only ' || old.quantity || ' left of pet ' || old.id || '.'",
      ],
      'new.quantity < 0',
    ),
    rule(
      'AFTER INSERT ON orders',
      [422, 'pet_required', "'An order must say which pet it is for (petId).'"],
      'new.petId IS NULL',
    ),
    rule('AFTER INSERT ON orders', UNKNOWN_PET, WITHOUT_PET),
    rule('AFTER UPDATE ON orders', UNKNOWN_PET, WITHOUT_PET),
    rule(
      'BEFORE UPDATE ON orders',
      [
        422,
        'id_mismatch',
        "'The body says order ' || new.id || ', the path says order ' || old.id || '.'",
      ],
      'new.id <> old.id',
    ),
  ].join('\n')}`;

import { escapeToken } from './names.ts';

export const toJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, exactly, indent);

/** JSON.stringify throws for a bigint. */
const exactly = (_name: string, value: unknown) =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;

/** The pointer to the first object that contains itself, or `null`. */
export function cycleIn(root: object): string | null {
  const open = new Set<object>();
  const closed = new Set<object>();

  function find(value: unknown, pointer: string): string | null {
    if (typeof value !== 'object' || value === null || closed.has(value))
      return null;
    if (open.has(value)) return pointer;
    open.add(value);
    for (const [name, member] of Object.entries(value)) {
      const found = find(member, `${pointer}/${escapeToken(name)}`);
      if (found !== null) return found;
    }
    open.delete(value);
    closed.add(value);
    return null;
  }
  return find(root, '');
}

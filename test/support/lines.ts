import { FieldLines } from '@storegate/http1';

/** Flat: name, value, …, with names in lower case. */
export function lines(...list: string[]): FieldLines {
  const made = new FieldLines();
  made.addRead(list);
  return made;
}

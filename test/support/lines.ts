import { FieldLines } from '@storegate/http1';

/** The fields of an answer in the making. `list` is flat, with names in lower case: name, value, … */
export function lines(...list: string[]): FieldLines {
  const made = new FieldLines();
  made.addRead(list);
  return made;
}

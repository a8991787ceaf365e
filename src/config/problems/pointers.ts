import { quote } from './quote.ts';

/*
 * Code in src/config names a place in a document by JSON pointer (RFC 6901), as ajv does; people read dotted paths.
 */

/** Appends one step to a pointer. */
export function step(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Turns `/plans/free/windows/0/limit` into `plans.free.windows[0].limit`. */
export function dotted(pointer: string): string {
  return pointer.split('/').slice(1).map(unescapeStep).map(segment).join('').replace(/^\./, '');
}

/** The pointer of a setting such as `http.maxBodyBytes`; names of settings need no escaping. */
export function pointerTo(setting: string): string {
  return `/${setting.replaceAll('.', '/')}`;
}

/** Whether one of the places contains the other, or both are the same. */
export function touches(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

/** The pointer one step up; `null` above the root. */
export function parent(pointer: string): string | null {
  return pointer === '' ? null : pointer.slice(0, pointer.lastIndexOf('/'));
}

function unescapeStep(text: string): string {
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

function segment(key: string): string {
  if (/^\d+$/.test(key)) return `[${key}]`;
  return /^[\w-]{1,64}$/.test(key) ? `.${key}` : `[${quote(key)}]`;
}

import { quote } from './quote.ts';

/* JSON pointer (RFC 6901), as in ajv; people read dotted paths. */

export function step(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** `/plans/free/windows/0/limit` becomes `plans.free.windows[0].limit`. */
export function dotted(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map(unescapeStep)
    .map(segment)
    .join('')
    .replace(/^\./, '');
}

/** Names of settings need no escaping. */
export function pointerTo(setting: string): string {
  return `/${setting.replaceAll('.', '/')}`;
}

/** Whether one place contains the other. */
export function touches(one: string, other: string): boolean {
  return (
    one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`)
  );
}

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

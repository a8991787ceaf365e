const longest = 60;

/** Short, on one line, without control characters and without parts of a URL that may be secret. */
export function quote(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (typeof value === 'string')
    return JSON.stringify(printable(shorten(maskUrl(value))));
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : String(value);
}

/** Treats all text before an `@` as credentials. */
export function maskUrl(text: string): string {
  const at = text.lastIndexOf('@');
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? '';
  const open = at === -1 ? text : `${scheme}***${text.slice(at)}`;
  return open.replace(/[?#].*$/s, (rest) => `${rest[0]}***`);
}

export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '�');
}

function shorten(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}

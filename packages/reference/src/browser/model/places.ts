/**
 * The fragment of an operation. `id`: its operationId, or method and path with a space between
 * them, whose other characters become underscores.
 */
export function placeHash(tag: string, id: string): string {
  const [, method, path] = /^([a-z]+) (\/.*)$/.exec(id) ?? [];
  const name = method === undefined ? id : method + path!.replace(/\W/g, '_');
  return `#/${encodeURIComponent(tag)}/${encodeURIComponent(name)}`;
}

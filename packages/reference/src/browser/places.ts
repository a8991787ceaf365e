export interface Place {
  readonly tag: string;
  readonly id: string;
}

/**
 * `id`: the operationId, or method and path with a space between them, which Swagger UI renders in
 * its own way.
 */
export function operationHash(tag: string, { id }: { readonly id: string }): string {
  const [, method, path] = /^([a-z]+) (\/.*)$/.exec(id) ?? [];
  const rendered = method === undefined ? id : `${method}${path!.replace(/\W/g, '_')}`;
  return `#/${encodeURIComponent(tag)}/${encodeURIComponent(rendered)}`;
}

export function placeOf(hash: string): Place | null {
  const parts = /^#\/([^/]+)\/([^/]+)$/.exec(hash);
  if (!parts) return null;
  try {
    return { tag: decodeURIComponent(parts[1]!), id: decodeURIComponent(parts[2]!) };
  } catch {
    return null;
  }
}

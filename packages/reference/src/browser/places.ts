export interface Place {
  readonly tag: string;
  readonly id: string;
}

interface Identity {
  /** The operationId, or method and path with a space between them. */
  readonly id: string;
}

export function operationHash(tag: string, operation: Identity): string {
  return `#/${encodeURIComponent(tag)}/${encodeURIComponent(renderedId(operation))}`;
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

function renderedId({ id }: Identity): string {
  const [, method, path] = /^([a-z]+) (\/.*)$/.exec(id) ?? [];
  return method === undefined ? id : `${method}${path!.replace(/\W/g, '_')}`;
}

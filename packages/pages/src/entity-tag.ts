import { createHash } from 'node:crypto';

/** A strong entity tag (RFC 9110 section 8.8.3). */
export function entityTag(content: string | Uint8Array): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`;
}

/**
 * `*` names every tag, a list is compared weakly (RFC 9110 section 13.1.2). Invalid lists name
 * none.
 */
export function hasTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const requested = opaque(tag);
  return (ifNoneMatch.match(ENTITY_TAG) ?? []).some(
    (one) => opaque(one) === requested,
  );
}

const ENTITY_TAG = /(?:W\/)?"[!#-~\x80-\xff]*"/g;

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}

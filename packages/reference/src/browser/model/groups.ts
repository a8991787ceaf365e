export interface TagGroup {
  readonly name: string;
  readonly tags: readonly string[];
}

/** Of operations without a tag, in links. */
export const UNTAGGED = 'default';

/** `null`: operations without a tag that come first need no heading. */
export function headingOf(
  tag: string,
  index: number,
  isTag: boolean,
): string | null {
  if (tag !== UNTAGGED || isTag) return tag;
  return index === 0 ? null : 'Other operations';
}

/** Tags without a group come last; empty groups are omitted. */
export function groupTags(
  tags: readonly string[],
  tagGroups: unknown,
): readonly TagGroup[] {
  const tagNames = new Set(tags);
  const groups: TagGroup[] = [];
  for (const group of Array.isArray(tagGroups) ? tagGroups : []) {
    const named: unknown[] = Array.isArray(group?.tags) ? group.tags : [];
    const present = named.filter((tag): tag is string =>
      tagNames.delete(tag as string),
    );
    if (present.length > 0)
      groups.push({ name: String(group.name), tags: present });
  }
  if (tagNames.size > 0)
    groups.push({
      name: groups.length > 0 ? 'More' : 'Operations',
      tags: [...tagNames],
    });
  return groups;
}

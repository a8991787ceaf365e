import type { Operation } from '@storegate/openapi';
import { type Html, html } from '@storegate/pages';
import {
  groupTags,
  headingOf,
  type TagGroup,
  UNTAGGED,
} from '../browser/model/groups.ts';
import { placeHash } from '../browser/model/places.ts';

export interface Link {
  readonly href: string;
  readonly text: string;
}

export type Listed = Pick<
  Operation,
  'id' | 'method' | 'path' | 'summary' | 'tags' | 'deprecated'
>;

export interface Contents {
  readonly guide: readonly Link[];
  /** Shown here only on narrow screens. */
  readonly documents: readonly Link[];
  readonly operations: readonly Listed[];
  readonly tagGroups: unknown;
}

/**
 * Rendered by the server, so that it works without scripts. On narrow screens it is a popover,
 * which a button opens.
 */
export function navigation({
  guide,
  documents,
  operations,
  tagGroups,
}: Contents): Html {
  const tags = new Set(
    operations.flatMap(({ tags }) => (tags.length > 0 ? tags : [UNTAGGED])),
  );
  const groups = groupTags([...tags], tagGroups);
  return html`<nav id="contents" aria-label="Contents" popover>
<ul class="guide">
${guide.map(({ href, text }) => html`<li><a href="${href}">${text}</a></li>\n`)}${documents.map(
  ({ href, text }) =>
    html`<li class="narrow"><a href="${href}">Contract as ${text}</a></li>\n`,
)}</ul>
<input id="search" type="search" placeholder="Search operations" aria-label="Search operations" autocomplete="off">
${groups.map((group) => groupOf(group, operations))}
</nav>`;
}

function groupOf(
  { name, tags }: TagGroup,
  operations: readonly Listed[],
): Html {
  const lists = tags.map((tag, index) => {
    const links = operations
      .filter((operation) => belongs(operation, tag))
      .map((operation) => link(operation, tag));
    const isTag = operations.some((operation) => operation.tags.includes(tag));
    const text = headingOf(tag, index, isTag);
    const heading =
      tags.length > 1 && text !== null ? html`<p>${text}</p>` : null;
    return html`<div class="tag">${heading}<ul>${links}</ul></div>`;
  });
  return html`<div class="group"><p>${name}</p>${lists}</div>`;
}

function belongs({ tags }: Listed, tag: string): boolean {
  return tags.includes(tag) || (tags.length === 0 && tag === UNTAGGED);
}

function link(operation: Listed, tag: string): Html {
  const { method, path, summary, deprecated } = operation;
  return html`<li><a href="${placeHash(tag, operation.id)}" title="${path}"${deprecated ? html` class="deprecated"` : null}>
<span class="method ${method.toLowerCase()}">${method}</span> <span>${summary || path}${
    deprecated ? html`<span class="unseen"> (deprecated)</span>` : null
  }</span></a></li>`;
}

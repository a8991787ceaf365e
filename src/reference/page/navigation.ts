import { CONTRACT_JSON_PATH, CONTRACT_YAML_PATH } from '../../common/own-paths.ts';
import type { Contract, Operation } from '../../contract/contract.ts';
import { type Html, html } from '../../pages/html.ts';
import { groupTags, type TagGroup } from '../browser/groups.ts';
import { operationHash } from '../browser/places.ts';
import { usageOperation, withUsageGroup } from '../usage.ts';

type Listed = Pick<Operation, 'id' | 'method' | 'path' | 'summary' | 'tags' | 'deprecated'>;

/**
 * The table of contents. The server draws it with the page, so that it works before and without scripts. If there is no
 * room beside the operations it is a popover, which `contentsButton` opens.
 */
export function navigation(contract: Contract): Html {
  // As in the published contract, the gateway's own operation replaces one of the contract at its path.
  const others = contract.operations.filter(({ path }) => path !== usageOperation.path);
  const operations: readonly Listed[] = [...others, usageOperation];
  const tags = new Set(operations.flatMap(({ tags }) => (tags.length > 0 ? tags : ['default'])));
  const groups = groupTags([...tags], withUsageGroup(contract.document['x-tagGroups']));
  return html`<nav id="contents" aria-label="Contents" popover>
<ul class="guide">
<li><a href="#start">Start here</a></li>
<li><a href="#limits">Plans and limits</a></li>
<li><a href="#retrying">How to retry</a></li>
<li><a href="#errors">Errors</a></li>
<li class="narrow"><a href="${CONTRACT_JSON_PATH}">Contract as JSON</a></li>
<li class="narrow"><a href="${CONTRACT_YAML_PATH}">Contract as YAML</a></li>
</ul>
${groups.map((group) => groupOf(group, operations))}
</nav>`;
}

export function contentsButton(): Html {
  return html`<button type="button" class="contents-button" popovertarget="contents">Contents</button>`;
}

function groupOf({ name, tags }: TagGroup, operations: readonly Listed[]): Html {
  const links = tags.flatMap((tag) =>
    operations.filter((operation) => belongs(operation, tag)).map((operation) => link(operation, tag)),
  );
  return html`<div class="group"><p>${name}</p><ul>${links}</ul></div>`;
}

function belongs({ tags }: Listed, tag: string): boolean {
  return tags.includes(tag) || (tags.length === 0 && tag === 'default');
}

function link(operation: Listed, tag: string): Html {
  const { method, path, summary, deprecated } = operation;
  return html`<li><a href="${operationHash(tag, operation)}" title="${path}"${deprecated ? html` class="deprecated"` : null}>
<span class="method ${method.toLowerCase()}">${method}</span> <span>${summary || path}${
    deprecated ? html`<span class="unseen"> (deprecated)</span>` : null
  }</span></a></li>`;
}

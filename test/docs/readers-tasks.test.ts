import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { anchorOf } from '../support/headings.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** The section of a heading, or the whole page. */
function sectionOf(page: string, anchor: string | undefined): string {
  if (anchor === undefined) return page;
  const sections = page.split(/^#+ /m).slice(1);
  return sections.find((one) => anchorOf(one.split('\n')[0]!) === anchor) ?? '';
}

test.each([
  ['protect an API', 'docs/quickstart.md', 'npx storegate init'],
  ['understand a 429', 'docs/clients.md#handle-errors', '| 429 |'],
  ['lift a ban', 'docs/bans.md#lift-a-ban', 'npx storegate bans lift'],
  ['write a client that is never banned', 'docs/recipes.md#python', '```python'],
  ['get an alert on an outage of Redis', 'docs/metrics.md#alerts', '`StoregateStateDown`'],
])('the README leads a reader who wants to %s there with one link', (_task, link, response) => {
  expect(read('README.md')).toContain(`](${link})`);
  const [file = '', anchor] = link.split('#');
  expect(sectionOf(read(file), anchor)).toContain(response);
});

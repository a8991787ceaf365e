import { h } from 'preact';
import { useLinks } from '../session.ts';

/** Links to pages of other systems, such as dashboards, in tabs of their own. Nothing if `console.links` names none. */
export function Links() {
  const links = useLinks();
  if (links.length === 0) return null;
  return h(
    'ul',
    { class: 'links', 'aria-label': 'Pages of other systems' },
    links.map(({ title, url }) =>
      h('li', { key: url + title }, h('a', { href: url, target: '_blank', rel: 'noreferrer' }, title)),
    ),
  );
}

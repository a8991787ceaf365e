import { h } from 'preact';
import { useState } from 'preact/hooks';

interface PagerProps {
  /** What pages have, for people who do not see them. */
  readonly of: string;
  /** Where this page begins; `null`: it is the first. */
  readonly at: string | null;
  /** Where the next page begins; `null`: this is the last. */
  readonly next: string | null;
  readonly onGo: (at: string | null) => void;
}

/** Steps through a list whose pages each name the next one only. The way back is remembered here: it must stay while a page is loaded. */
export function Pager({ of, at, next, onGo }: PagerProps) {
  const [trail, setTrail] = useState<readonly (string | null)[]>([]);
  if (at === null && next === null) return null;

  function forth() {
    setTrail([...trail, at]);
    onGo(next);
  }

  function back() {
    setTrail(trail.slice(0, -1));
    // Who came by a link has no way back but to the first page.
    onGo(trail.at(-1) ?? null);
  }

  return h(
    'div',
    { class: 'pager buttons', role: 'group', 'aria-label': `Pages of ${of}` },
    h('button', { type: 'button', disabled: at === null, onClick: back }, trail.length > 0 ? 'Back' : 'First page'),
    h('button', { type: 'button', disabled: next === null, onClick: forth }, 'Next'),
  );
}

import { h } from 'preact';
import { useRef, useState } from 'preact/hooks';

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
  const [passed, setPassed] = useState<readonly (string | null)[]>([]);
  const wasShown = useRef(false);
  if (at !== null || next !== null) wasShown.current = true;
  if (!wasShown.current) return null;
  // Who went back with the browser stands at a page that was passed.
  const trail = passed.includes(at) ? passed.slice(0, passed.indexOf(at)) : passed;

  function forth() {
    if (next === null) return;
    setPassed([...trail, at]);
    onGo(next);
  }

  function back() {
    if (at === null) return;
    setPassed(trail.slice(0, -1));
    // Who came by a link has no way back but to the first page.
    onGo(trail.at(-1) ?? null);
  }

  return h('div', { class: 'pager buttons', role: 'group', 'aria-label': `Pages of ${of}` }, [
    step(at === null, back, trail.length > 0 ? 'Back' : 'First page'),
    step(next === null, forth, 'Next'),
  ]);
}

/** A button that was disabled while a page is loaded would lose the focus. */
function step(isOff: boolean, onClick: () => void, words: string) {
  return h('button', { type: 'button', 'aria-disabled': isOff, onClick }, words);
}

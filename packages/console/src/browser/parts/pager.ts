import { h } from 'preact';
import { useRef, useState } from 'preact/hooks';

export interface PagerProps {
  /** What pages have, for people who do not see them. */
  readonly of: string;
  /** Where this page begins; empty: it is the first. */
  readonly at: string;
  /** Where the next page begins; `null`: this is the last. */
  readonly next: string | number | null | undefined;
  readonly onGo: (at: string) => void;
}

/**
 * Steps through a list whose pages each name the next one only. The way back is remembered here: it
 * must stay while a page is loaded.
 */
export function Pager({ of, at, next, onGo }: PagerProps) {
  const [passed, setPassed] = useState<readonly string[]>([]);
  const wasShown = useRef(false);
  if (at || next) wasShown.current = true;
  if (!wasShown.current) return null;
  // Who went back with the browser stands at a page that was passed.
  const trail = passed.includes(at)
    ? passed.slice(0, passed.indexOf(at))
    : passed;

  function forth() {
    if (!next) return;
    setPassed([...trail, at]);
    onGo(String(next));
  }

  function back() {
    if (!at) return;
    setPassed(trail.slice(0, -1));
    // Who came by a link has no way back but to the first page.
    onGo(trail.at(-1) ?? '');
  }

  return h(
    'div',
    { class: 'pager buttons', role: 'group', 'aria-label': `Pages of ${of}` },
    [
      step(!at, back, trail.length > 0 ? 'Back' : 'First page'),
      step(!next, forth, 'Next'),
    ],
  );
}

/** A button that was disabled while a page is loaded would lose the focus. */
function step(isOff: boolean, onClick: () => void, text: string) {
  return h('button', { type: 'button', 'aria-disabled': isOff, onClick }, text);
}

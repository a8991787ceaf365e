/** Opens the operation of the address and scrolls to it, now and whenever the address changes. */
export function followAddress(): void {
  const follow = () => {
    const target = document.getElementById(idOf(location.hash));
    if (target === null) return;
    if (target instanceof HTMLDetailsElement) {
      target.open = true;
      target.querySelector('summary')?.focus({ preventScroll: true });
    }
    target.scrollIntoView({ behavior: 'instant' });
  };
  addEventListener('hashchange', follow);
  // A link to the current address has no effect by itself.
  addEventListener('click', ({ target }) => {
    const link = (target as Element).closest('a');
    if (link?.hash && link.hash === location.hash) follow();
  });
  follow();
}

function idOf(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return '';
  }
}

/** Not every browser moves the focus when a link is followed. */
export function skipToContent(): void {
  document
    .querySelector('.skip')!
    .addEventListener('click', () =>
      document.getElementById('content')!.focus(),
    );
}

/** The contents close when they are used, and show what the reader searches for. */
export function connectContents(): void {
  const contents = document.getElementById('contents')!;
  contents.addEventListener('click', ({ target }) => {
    if ((target as Element).closest('a')) contents.togglePopover(false);
  });
  const search = document.getElementById('search') as HTMLInputElement;
  const links = [
    ...contents.querySelectorAll<HTMLAnchorElement>('.group a'),
  ].map((link) => {
    return {
      link,
      text: `${link.textContent} ${link.title} ${idOf(link.hash)}`.toLowerCase(),
    };
  });
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const { link, text } of links)
      link.parentElement!.hidden = !words.every((word) => text.includes(word));
    for (const group of contents.querySelectorAll<HTMLElement>('.group, .tag'))
      group.hidden = !group.querySelector('li:not([hidden])');
  });
}

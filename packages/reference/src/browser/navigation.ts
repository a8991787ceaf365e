import { operationHash, placeOf } from './places.ts';
import type { Plugin, SwaggerUi } from './swagger-ui.ts';

export function followLinks(ui: SwaggerUi): void {
  const follow = () => {
    const place = placeOf(location.hash);
    if (!place) return;
    const { layoutActions } = ui.getSystem();
    layoutActions.show(['operations-tag', place.tag], true);
    layoutActions.show(['operations', place.tag, place.id], true);
    const id = ['operations', place.tag, place.id]
      .map((part) => CSS.escape(part.replace(/\s/g, '_')))
      .join('-');
    const operation = document.getElementById(id);
    operation?.scrollIntoView();
    operation
      ?.querySelector<HTMLElement>('.opblock-summary-control')
      ?.focus({ preventScroll: true });
  };
  addEventListener('hashchange', follow);
  // A link to the current address has no effect by itself.
  addEventListener('click', ({ target }) => {
    const link = (target as Element).closest('a');
    if (link?.hash && link.hash === location.hash) follow();
  });
  follow();
  // The browser scrolled while the page was still short.
  document.getElementById(location.hash.slice(1))?.scrollIntoView({ behavior: 'instant' });
}

/** Not every browser moves the focus when a link is followed. */
export function skipToContent(): void {
  document
    .querySelector('.skip')!
    .addEventListener('click', () => document.getElementById('content')!.focus());
}

export function closeContentsWhenUsed(): void {
  const contents = document.getElementById('contents')!;
  contents.addEventListener('click', ({ target }) => {
    if ((target as Element).closest('a')) contents.togglePopover(false);
  });
}

export const rememberPlace: Plugin = {
  statePlugins: {
    layout: {
      wrapActions: {
        show: (original) => (thing, shown) => {
          if (Array.isArray(thing) && thing[0] === 'operations' && thing.length === 3 && shown) {
            history.replaceState(null, '', operationHash(thing[1], { id: thing[2] }));
          }
          return original(thing, shown);
        },
      },
    },
  },
};

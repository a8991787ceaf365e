/**
 * Only the compiler reads this file. No line below `@ts-expect-error` may compile: one that did
 * would let a kind of window in without a complete entry in the table. `npm run check:types` fails
 * if one does.
 */
import { kindOf, WINDOW_KINDS, type WindowKind } from '../../src/limits/kinds.ts';
import type { Window } from '../../src/limits/limits.ts';

/** The union with one more kind, as a change that adds it would write it. */
type More = Window['kind'] | 'unheard-of';

// @ts-expect-error: a kind of the union that the table does not have.
WINDOW_KINDS satisfies Record<More, WindowKind>;

declare const window: Omit<Window, 'kind'> & { readonly kind: More };
// @ts-expect-error: a window of such a kind has no entry to ask for.
kindOf(window);
// @ts-expect-error: nor can one look it up.
WINDOW_KINDS[window.kind];

function spelled({ kind }: { readonly kind: More }): string {
  if (kind === 'fixed' || kind === 'sliding') return kind;
  // @ts-expect-error: the last branch of `kindOf` with one kind more in the union.
  kind satisfies 'calendar';
  return kind;
}
spelled satisfies (window: Window) => string;

/** No property of an entry may be left out. */
type Optional<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];
true satisfies Optional<WindowKind> extends never ? true : false;

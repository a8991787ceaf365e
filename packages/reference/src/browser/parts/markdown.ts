import { lexer, type Tokens } from 'marked';
import { type ComponentChildren, h } from 'preact';

/** The Markdown of a description. HTML in it is shown as its text, and only safe links are links. */
export function Markdown({ text }: { readonly text: string | undefined }) {
  if (!text) return null;
  return h('div', { class: 'markdown' }, drawAll(lexer(text)));
}

/** Elements that contain what their token contains. */
const ELEMENTS: Readonly<Record<string, string>> = {
  paragraph: 'p',
  strong: 'strong',
  em: 'em',
  del: 'del',
  blockquote: 'blockquote',
  list_item: 'li',
};

const drawAll = (tokens: readonly object[]) =>
  (tokens as readonly Tokens.Generic[]).map(draw);

function draw(token: Tokens.Generic): ComponentChildren {
  const inner = () =>
    token.tokens ? drawAll(token.tokens) : decode(token.text);
  const element = ELEMENTS[token.type];
  if (element !== undefined) return h(element, null, inner());
  switch (token.type) {
    case 'heading':
      // The page has headings of its own above it.
      return h('p', null, h('strong', null, inner()));
    case 'link':
      return isSafe(token.href)
        ? h('a', { href: token.href, rel: 'noreferrer' }, inner())
        : inner();
    case 'code':
      return h('pre', { tabIndex: 0 }, h('code', null, token.text));
    case 'codespan':
      return h('code', null, token.text);
    case 'list':
      return h(
        token.ordered ? 'ol' : 'ul',
        { start: token.start || undefined },
        drawAll(token.items),
      );
    case 'table':
      return table(token.header, token.rows);
    case 'br':
      return h('br', null);
    case 'hr':
      return h('hr', null);
    case 'html':
      return /^<br/i.test(token.text)
        ? h('br', null)
        : decode(token.text.replace(/<[^>]*>/g, ' '));
    case 'space':
    case 'def':
    case 'checkbox':
      return null;
    default:
      return inner();
  }
}

interface Cell {
  readonly tokens: readonly object[];
  readonly align: 'left' | 'center' | 'right' | null;
}

function table(header: readonly Cell[], rows: readonly (readonly Cell[])[]) {
  const row = (name: string, cells: readonly Cell[]) =>
    h(
      'tr',
      null,
      cells.map(({ tokens, align }) =>
        h(name, { class: align ?? undefined }, drawAll(tokens)),
      ),
    );
  const body = h(
    'tbody',
    null,
    rows.map((cells) => row('td', cells)),
  );
  const head = h('thead', null, row('th', header));
  return h(
    'div',
    { class: 'scroll', tabIndex: 0 },
    h('table', null, head, body),
  );
}

const isSafe = (href: string): boolean => /^(?:https?:|mailto:|#)/i.test(href);

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: '\u00a0',
};

const decode = (text: string): string =>
  text.replace(/&(?:#(\d{1,6})|(\w+));/g, (whole, code?: string, name = '') =>
    code === undefined
      ? (ENTITIES[name] ?? whole)
      : String.fromCodePoint(Number(code)),
  );

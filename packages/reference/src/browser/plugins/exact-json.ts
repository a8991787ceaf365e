import { h, type Plugin, system } from '../swagger-ui.ts';

/** Swagger UI uses JSON.parse, which rounds identifiers. */
export const exactJson: Plugin = {
  wrapComponents: {
    responseBody: (Original) => (props) => {
      const { content, contentType } = props;
      if (typeof content !== 'string' || !/json/i.test(String(contentType)))
        return h(Original, props);
      const HighlightCode = system.getComponent('HighlightCode', true);
      const settings = {
        language: 'json',
        canCopy: true,
        downloadable: true,
        fileName: 'response.json',
      };
      return h(
        'div',
        null,
        h('h5', null, 'Response body'),
        h(HighlightCode, settings, indentJson(content)),
      );
    },
    /** Has classes for light and dark, and scrolls by keyboard. */
    SyntaxHighlighter:
      () =>
      ({ language, className, children }) => {
        const text = String(children ?? '');
        const code = language === 'json' ? piecesOf(text).map(colored) : text;
        return h('pre', { className, tabIndex: 0 }, h('code', null, code));
      },
  },
};

const colored = ({ kind, text }: Piece, key: number) =>
  h('span', { key, className: `json-${kind}` }, text);

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Keeps every token, because `JSON.parse` would round an int64. Other text is unchanged. */
export function indentJson(text: string): string {
  if (!isJson(text)) return text;
  const tokens = text.match(TOKEN) ?? [];
  let indent = '\n';
  let result = '';
  tokens.forEach((token, index) => {
    if (closes(token) && !opens(tokens[index - 1])) {
      indent = indent.slice(0, -2);
      result += indent;
    }
    result += token === ':' ? ': ' : token;
    if (opens(token) && !closes(tokens[index + 1])) {
      indent += '  ';
      result += indent;
    }
    if (token === ',') result += indent;
  });
  return result;
}

type Kind = 'name' | 'string' | 'number' | 'literal' | 'other';
type Piece = { readonly kind: Kind; readonly text: string };

/** The pieces joined are the text. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces =
    text.match(
      /"(?:[^"\\]|\\.)*"(?:\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b|[^"\dtfn-]+|[\s\S]/g,
    ) ?? [];
  return pieces.map((piece) => ({ kind: kindOf(piece), text: piece }));
}

function kindOf(piece: string): Kind {
  if (piece.startsWith('"')) return piece.endsWith(':') ? 'name' : 'string';
  if (/^-?\d/.test(piece)) return 'number';
  return /^(?:true|false|null)$/.test(piece) ? 'literal' : 'other';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const opens = (token: string | undefined): boolean => token === '{' || token === '[';
const closes = (token: string | undefined): boolean => token === '}' || token === ']';

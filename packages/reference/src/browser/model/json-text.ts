const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

const opens = (token: string | undefined): boolean =>
  token === '{' || token === '[';
const closes = (token: string | undefined): boolean =>
  token === '}' || token === ']';

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

/** Without spaces between the tokens. Other text is unchanged. */
export const compactJson = (text: string): string =>
  isJson(text) ? text.match(TOKEN)!.join('') : text;

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** ECMAScript 2026, which not every browser and no type has yet. */
interface Exact {
  rawJSON?(text: string): unknown;
}

type Reviver = (
  name: string,
  value: unknown,
  context?: { readonly source?: string },
) => unknown;

const parse = JSON.parse as (text: string, reviver?: Reviver) => unknown;

/** Numbers that would be rounded keep their text, where the browser can. */
export function parseExact(text: string): unknown {
  const { rawJSON } = JSON as Exact;
  if (rawJSON === undefined || !/[:,[]\s*-?\d{16}/.test(text))
    return parse(text);
  return parse(text, (_name, value, context) =>
    typeof value === 'number' && String(value) !== context?.source
      ? rawJSON(context?.source ?? String(value))
      : value,
  );
}

/** Scalars become their text. @throws SyntaxError */
export const parseTexts = (text: string): unknown =>
  parse(text, (_name, value, context) => {
    if (typeof value === 'object' && value !== null) return value;
    return typeof value === 'string'
      ? value
      : (context?.source ?? String(value));
  });

export interface Piece {
  readonly kind: 'name' | 'string' | 'number' | 'literal' | 'other';
  readonly text: string;
}

const PIECE =
  /"(?:[^"\\]|\\.)*"(?:\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b|[^"\dtfn-]+|[\s\S]/g;

/** The pieces joined are the text. */
export const piecesOf = (text: string): readonly Piece[] =>
  (text.match(PIECE) ?? []).map((piece) => ({
    kind: kindOf(piece),
    text: piece,
  }));

function kindOf(piece: string): Piece['kind'] {
  if (piece.startsWith('"')) return piece.endsWith(':') ? 'name' : 'string';
  if (/^-?\d/.test(piece)) return 'number';
  return /^(?:true|false|null)$/.test(piece) ? 'literal' : 'other';
}

import { SaxesParser } from 'saxes';
import { type Rule, Unreadable } from '../../faults.ts';
import { MAX_DEPTH } from '../../json.ts';
import { textOf } from '../../utf8.ts';

/** Per document. */
export const MAX_ELEMENTS = 50_000;
/** Per element, including namespace declarations. */
export const MAX_ATTRIBUTES = 64;

/** `uri` is empty outside of all namespaces. */
export interface XmlName {
  readonly name: string;
  readonly local: string;
  readonly uri: string;
}

export interface XmlAttribute extends XmlName {
  readonly value: string;
}

export interface XmlElement extends XmlName {
  readonly attributes: readonly XmlAttribute[];
  readonly children: XmlElement[];
  text: string;
  /** Text pieces between comments, elements and CDATA sections. */
  pieces: number;
  commented: boolean;
}

const DECLARATIONS = 'http://www.w3.org/2000/xmlns/';

const elementOf = (name: XmlName, attributes: readonly XmlAttribute[]): XmlElement => ({
  ...name,
  attributes,
  children: [],
  text: '',
  pieces: 0,
  commented: false,
});

/**
 * Strict: UTF-8, no DTD and therefore only the five predefined entities, no processing instructions, limited size.
 *
 * @throws Unreadable
 */
export function readTree(bytes: Uint8Array): XmlElement {
  const text = textOf(bytes);
  const parser = new SaxesParser({ xmlns: true });
  const document = elementOf({ name: '', local: '', uri: '' }, []);
  const open = [document];
  let elements = 0;
  let attributes = 0;

  function fail(message: string, rule: Rule = 'syntax'): never {
    const { line, columnIndex } = parser;
    const limit = rule === 'depth' && { limit: MAX_DEPTH };
    const place = `(line ${line}, column ${columnIndex + 1})`;
    throw new Unreadable({ pointer: '', message: `${message} ${place}`, rule, ...limit });
  }

  function add(text: string): void {
    const element = open.at(-1)!;
    element.text += text;
    if (text !== '') element.pieces++;
  }

  // The parser's own message repeats what was sent.
  parser.on('error', () => fail('is not well-formed XML'));
  parser.on('xmldecl', ({ version, encoding }) => {
    if (version !== '1.0') fail('must be XML 1.0');
    if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8') fail('must be in UTF-8', 'encoding');
  });
  parser.on('doctype', () => fail('must not have a document type declaration'));
  parser.on('processinginstruction', () => fail('must not have processing instructions'));
  parser.on('opentagstart', () => {
    attributes = 0;
    if (++elements > MAX_ELEMENTS) fail(`has more than ${MAX_ELEMENTS} elements`, 'complexity');
    if (open.length > MAX_DEPTH) fail(`is nested deeper than ${MAX_DEPTH} levels`, 'depth');
  });
  parser.on('attribute', ({ name, prefix, value }) => {
    // The parser ignores this white space, and the specification does not (Namespaces in XML 1.0, section 2.3).
    if ((name === 'xmlns' || prefix === 'xmlns') && value !== value.trim())
      fail('has a namespace that begins or ends with white space');
    if (++attributes > MAX_ATTRIBUTES) fail(`has more than ${MAX_ATTRIBUTES} attributes`, 'complexity');
  });
  parser.on('opentag', ({ name, local, uri, attributes }) => {
    const own = Object.values(attributes).filter((attribute) => attribute.uri !== DECLARATIONS);
    const element = elementOf({ name, local, uri }, own);
    open.at(-1)!.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => void open.pop());
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('comment', () => {
    open.at(-1)!.commented = true;
  });
  parser.write(text).close();
  return document.children[0]!;
}

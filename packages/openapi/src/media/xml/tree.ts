import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import { type Rule, refuse } from '../../faults.ts';
import { MAX_DEPTH } from '../../json.ts';
import type { Steps } from '../../slices.ts';
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

interface XmlAttribute extends XmlName {
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

/** In characters: less than a millisecond. */
const STEP = 4 * 1024;

const DECLARATIONS = 'http://www.w3.org/2000/xmlns/';

/**
 * Strict: UTF-8, no DTD and therefore only the five predefined entities, no processing
 * instructions, limited size.
 *
 * @throws Unreadable
 */
export function* readTree(bytes: Uint8Array): Steps<XmlElement> {
  const text = textOf(bytes);
  const parser = new SaxesParser({ xmlns: true });
  const open: XmlElement[] = [];
  let root: XmlElement | null = null;
  let elements = 0;
  let attributes = 0;

  function fail(message: string, rule: Rule = 'syntax'): never {
    const { line, columnIndex } = parser;
    const place = `(line ${line}, column ${columnIndex + 1})`;
    refuse(
      `${message} ${place}`,
      rule,
      '',
      rule === 'depth' ? MAX_DEPTH : undefined,
    );
  }

  function start(name: XmlName, all: Record<string, SaxesAttributeNS>): void {
    const element = {
      ...name,
      attributes: Object.values(all).filter(({ uri }) => uri !== DECLARATIONS),
      children: [],
      text: '',
      pieces: 0,
      commented: false,
    };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  }

  function add(text: string): void {
    const element = open.at(-1);
    if (!element || text === '') return;
    element.text += text;
    element.pieces++;
  }

  // The parser's own message repeats what was sent.
  parser.on('error', () => fail('is not well-formed XML'));
  parser.on('xmldecl', ({ version, encoding }) => {
    if (version !== '1.0') fail('must be XML 1.0');
    if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8')
      fail('must be in UTF-8', 'encoding');
  });
  parser.on('doctype', () => fail('must not have a document type declaration'));
  parser.on('processinginstruction', () =>
    fail('must not have processing instructions'),
  );
  parser.on('opentagstart', () => {
    attributes = 0;
    if (++elements > MAX_ELEMENTS)
      fail(`has more than ${MAX_ELEMENTS} elements`, 'complexity');
    if (open.length === MAX_DEPTH)
      fail(`is nested deeper than ${MAX_DEPTH} levels`, 'depth');
  });
  parser.on('attribute', ({ name, prefix, value }) => {
    // The parser ignores this white space, and the specification does not (Namespaces in XML 1.0,
    // section 2.3).
    if ((name === 'xmlns' || prefix === 'xmlns') && value !== value.trim())
      fail('has a namespace that begins or ends with white space');
    if (++attributes > MAX_ATTRIBUTES)
      fail(`has more than ${MAX_ATTRIBUTES} attributes`, 'complexity');
  });
  parser.on('opentag', ({ name, local, uri, attributes }) =>
    start({ name, local, uri }, attributes),
  );
  parser.on('closetag', () => void open.pop());
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('comment', () => {
    const element = open.at(-1);
    if (element) element.commented = true;
  });
  for (let at = 0; at < text.length; at += STEP) {
    if (at > 0) yield;
    parser.write(text.slice(at, at + STEP));
  }
  parser.close();
  return root!;
}

import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import { type Rule, refuse } from '../../faults.ts';
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
export function* readTree(
  bytes: Uint8Array,
): Generator<void, XmlElement, void> {
  const text = textOf(bytes);
  const builder = new Builder();
  for (let at = 0; at < text.length; at += STEP) {
    if (at > 0) yield;
    builder.parser.write(text.slice(at, at + STEP));
  }
  builder.parser.close();
  return builder.root!;
}

class Builder {
  readonly parser = new SaxesParser({ xmlns: true });
  root: XmlElement | null = null;
  readonly #open: XmlElement[] = [];
  #elements = 0;
  #attributes = 0;

  constructor() {
    const { parser } = this;
    const fail = (message: string, rule: Rule = 'syntax') =>
      this.#fail(message, rule);
    // The parser's own message repeats what was sent.
    parser.on('error', () => fail('is not well-formed XML'));
    parser.on('xmldecl', ({ version, encoding }) => {
      if (version !== '1.0') fail('must be XML 1.0');
      if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8')
        fail('must be in UTF-8', 'encoding');
    });
    parser.on('doctype', () =>
      fail('must not have a document type declaration'),
    );
    parser.on('processinginstruction', () =>
      fail('must not have processing instructions'),
    );
    parser.on('opentagstart', () => {
      this.#attributes = 0;
      if (++this.#elements > MAX_ELEMENTS)
        fail(`has more than ${MAX_ELEMENTS} elements`, 'complexity');
      if (this.#open.length === MAX_DEPTH)
        fail(`is nested deeper than ${MAX_DEPTH} levels`, 'depth');
    });
    parser.on('attribute', ({ name, prefix, value }) => {
      // The parser ignores this white space, and the specification does not (Namespaces in XML 1.0,
      // section 2.3).
      if ((name === 'xmlns' || prefix === 'xmlns') && value !== value.trim())
        fail('has a namespace that begins or ends with white space');
      if (++this.#attributes > MAX_ATTRIBUTES)
        fail(`has more than ${MAX_ATTRIBUTES} attributes`, 'complexity');
    });
    parser.on('opentag', ({ name, local, uri, attributes }) =>
      this.#start({ name, local, uri }, attributes),
    );
    parser.on('closetag', () => void this.#open.pop());
    parser.on('text', (text) => this.#text(text));
    parser.on('cdata', (text) => this.#text(text));
    parser.on('comment', () => {
      const element = this.#open.at(-1);
      if (element) element.commented = true;
    });
  }

  #fail(message: string, rule: Rule): never {
    const { line, columnIndex } = this.parser;
    const place = `(line ${line}, column ${columnIndex + 1})`;
    refuse(
      `${message} ${place}`,
      rule,
      '',
      rule === 'depth' ? MAX_DEPTH : undefined,
    );
  }

  #start(name: XmlName, attributes: Record<string, SaxesAttributeNS>): void {
    const own = Object.values(attributes).filter(
      ({ uri }) => uri !== DECLARATIONS,
    );
    const element = {
      ...name,
      attributes: own,
      children: [],
      text: '',
      pieces: 0,
      commented: false,
    };
    const parent = this.#open.at(-1);
    if (parent) parent.children.push(element);
    else this.root = element;
    this.#open.push(element);
  }

  #text(text: string): void {
    const element = this.#open.at(-1);
    if (!element || text === '') return;
    element.text += text;
    element.pieces++;
  }
}

import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import type { Rule } from '../../fault.ts';
import type { ValueFault } from '../../faults.ts';
import { MAX_DEPTH } from '../../json.ts';
import { decodeUtf8 } from '../../utf8.ts';

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

export type Tree =
  | { readonly root: XmlElement; readonly fault: null }
  | { readonly root?: never; readonly fault: ValueFault };

const DECLARATIONS = 'http://www.w3.org/2000/xmlns/';

class Refused extends Error {
  readonly rule: Rule;

  constructor(message: string, rule: Rule = 'syntax') {
    super(message);
    this.rule = rule;
  }
}

/** Strict: UTF-8, no DTD and therefore only the five predefined entities, no processing instructions, limited size. */
export function readTree(bytes: Uint8Array): Tree {
  const text = decodeUtf8(bytes);
  if (text === null) return wrong('is not UTF-8', 'encoding');
  const builder = new Builder();
  const parser = builder.parser;
  try {
    parser.write(text).close();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return wrong(`${error.message} (line ${parser.line}, column ${parser.columnIndex + 1})`, error.rule);
  }
  return { root: builder.root!, fault: null };
}

const wrong = (message: string, rule: Rule): Tree => ({
  fault: { pointer: '', message, rule, ...(rule === 'depth' && { limit: MAX_DEPTH }) },
});

class Builder {
  readonly parser = new SaxesParser({ xmlns: true });
  root: XmlElement | null = null;
  readonly #open: XmlElement[] = [];
  #elements = 0;
  #attributes = 0;

  constructor() {
    const { parser } = this;
    // The parser's own message repeats what was sent.
    parser.on('error', () => {
      throw new Refused('is not well-formed XML');
    });
    parser.on('xmldecl', ({ version, encoding }) => {
      if (version !== '1.0') throw new Refused('must be XML 1.0');
      if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8')
        throw new Refused('must be in UTF-8', 'encoding');
    });
    parser.on('doctype', () => {
      throw new Refused('must not have a document type declaration');
    });
    parser.on('processinginstruction', () => {
      throw new Refused('must not have processing instructions');
    });
    parser.on('opentagstart', () => {
      this.#attributes = 0;
      if (++this.#elements > MAX_ELEMENTS) throw new Refused(`has more than ${MAX_ELEMENTS} elements`, 'complexity');
      if (this.#open.length === MAX_DEPTH) throw new Refused(`is nested deeper than ${MAX_DEPTH} levels`, 'depth');
    });
    parser.on('attribute', ({ name, prefix, value }) => {
      // The parser ignores this white space, and the specification does not (Namespaces in XML 1.0, section 2.3).
      if ((name === 'xmlns' || prefix === 'xmlns') && value !== value.trim())
        throw new Refused('has a namespace that begins or ends with white space');
      if (++this.#attributes > MAX_ATTRIBUTES)
        throw new Refused(`has more than ${MAX_ATTRIBUTES} attributes`, 'complexity');
    });
    parser.on('opentag', ({ name, local, uri, attributes }) => this.#start({ name, local, uri }, attributes));
    parser.on('closetag', () => void this.#open.pop());
    parser.on('text', (text) => this.#text(text));
    parser.on('cdata', (text) => this.#text(text));
    parser.on('comment', () => {
      const element = this.#open.at(-1);
      if (element) element.commented = true;
    });
  }

  #start(name: XmlName, attributes: Record<string, SaxesAttributeNS>): void {
    const own = Object.values(attributes).filter(({ uri }) => uri !== DECLARATIONS);
    const element = { ...name, attributes: own, children: [], text: '', pieces: 0, commented: false };
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

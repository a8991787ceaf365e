import type { Document } from '../../document/document.ts';
import { isObject, type Json } from '../../document/source.ts';

interface XmlForm {
  readonly attribute: boolean;
  readonly wrapped: boolean;
  /** Why the value cannot be checked; `null` if it can. */
  readonly flaw: string | null;
}

const NODE_TYPES: readonly unknown[] = ['element', 'attribute', 'text', 'cdata', 'none'];

/** `nodeType` of OpenAPI 3.2 takes the place of `attribute` and `wrapped`. */
export function xmlFormOf({ dialect, findings }: Document, schema: Json, isList: boolean): XmlForm {
  const xml = isObject(schema.xml) ? schema.xml : {};
  const { nodeType } = xml;
  const plain = { attribute: xml.attribute === true, wrapped: xml.wrapped === true, flaw: null };
  if (nodeType === undefined) return plain;
  if (!dialect.xmlNodeTypes) {
    findings.note(
      xml,
      'nodeType',
      `nodeType is not a field that ${dialect.name} has here: it is ignored`,
    );
    return plain;
  }
  return {
    attribute: nodeType === 'attribute',
    wrapped: nodeType === 'element',
    flaw: flawOf(xml, isList),
  };
}

function flawOf({ nodeType, attribute, wrapped }: Json, isList: boolean): string | null {
  if (!NODE_TYPES.includes(nodeType))
    return 'xml.nodeType must be element, attribute, text, cdata or none';
  if (attribute !== undefined || wrapped !== undefined)
    return 'xml.nodeType must not stand beside attribute or wrapped (OpenAPI 3.2, XML Object)';
  const isSupported = nodeType === 'element' || nodeType === (isList ? 'none' : 'attribute');
  return isSupported ? null : `xml.nodeType ${nodeType} is not supported`;
}

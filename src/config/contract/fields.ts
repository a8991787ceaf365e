import {
  type Document,
  type ExtensionReader,
  type Findings,
  isObject,
  type Json,
  objectsIn,
  shown,
  UNCHECKED_BODY,
} from '@storegate/openapi';
import { suggest } from '../../common/suggest.ts';
import type { Window } from '../../limits/limits.ts';
import { type LimitFields, RATELIMIT, Ratelimits } from './limits.ts';
import { isPublic, REQUIRED_SCOPES, readRequiredScopes, readSecuritySchemes, type SecurityFields } from './security.ts';
import { readUpstreams, UPSTREAM } from './upstreams.ts';

export interface OperationFields extends LimitFields {
  /** A key needs all of them. */
  readonly requiredScopes: readonly string[];
  readonly upstream: string | null;
  /** `security`. */
  readonly isPublic: boolean;
}

export interface ContractFields extends SecurityFields {
  /** `x-ratelimit`. */
  readonly windows: readonly Window[];
}

export const GATEWAY_FIELDS: ExtensionReader<OperationFields, ContractFields> = {
  misspelling,
  read(document, operations, findings) {
    rejectMisplaced(document, findings);
    rejectMisspelled(objectsIn(document.root.tags), findings);
    const upstreamOf = readUpstreams(document, findings);
    const ratelimits = new Ratelimits(document, operations, findings);
    return {
      fieldsOf: (operation, node) => {
        const requiredScopes = readRequiredScopes(node, findings);
        return {
          ...ratelimits.fieldsOf(operation, node),
          requiredScopes,
          upstream: upstreamOf(operation, node),
          isPublic: isPublic(document, node, requiredScopes, findings),
        };
      },
      sharedBy: (served) => ({ windows: ratelimits.windowsOf(served), ...readSecuritySchemes(document) }),
    };
  },
};

const OWN = [UNCHECKED_BODY, UPSTREAM];
/** A name of another vendor must not be taken for a misspelt one. */
const MAX_TYPOS = 3;

/** `null` if the name is neither ours nor nearly ours. */
function misspelling(key: string): string | null {
  if (OWN.includes(key)) return null;
  const meant = suggest(key, OWN, MAX_TYPOS) ?? (isOurs(key) ? suggest(key, OWN) : null);
  if (meant === null && !isOurs(key)) return null;
  const hint = meant === null ? `the extensions are ${OWN.join(' and ')}` : `did you mean ${meant}?`;
  return `${shown(key)} is not an extension of storegate: ${hint}`;
}

function rejectMisspelled(tags: readonly Json[], findings: Findings): void {
  for (const tag of tags) {
    for (const key of Object.keys(tag)) {
      const flaw = misspelling(key);
      if (flaw !== null) findings.refuse(tag, key, flaw);
    }
  }
}

const isOurs = (key: string): boolean => /^x-storegate(?:-|$)/i.test(key);

/** An author may mean all operations of a path or a document, but the fields would have no effect there. */
function rejectMisplaced(document: Document, findings: Findings): void {
  const { root } = document;
  const refuse = (nodes: readonly unknown[], key: string, message: string) => {
    for (const node of new Set(nodes))
      if (isObject(node) && node[key] !== undefined)
        findings.refuse(node, key, `has no effect here: it belongs on ${message}`);
  };
  const whole = [root, root.info, root.paths];
  const items = document.members(root.paths).flatMap(([, item]) => [item, document.object(item)]);
  const tags = objectsIn(root.tags);
  refuse([...whole, ...items, ...tags], REQUIRED_SCOPES, 'each operation that needs the scopes');
  refuse([...whole, ...items], RATELIMIT, 'an operation, or on a tag in tags');
  refuse(whole, UPSTREAM, 'an operation, on a path, or on a tag in tags');
}

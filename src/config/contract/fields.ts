import {
  type Document,
  type ExtensionReader,
  type Findings,
  type Json,
  objectsIn,
} from '@storegate/openapi';
import type { Window } from '../../limits/limits.ts';
import type { OperationSettings } from '../config.ts';
import { judgeField } from './field-names.ts';
import { createRatelimits, type LimitFields } from './limits.ts';
import {
  applySettings,
  type OperationLimits,
  readTimeout,
} from './operations.ts';
import {
  isPublic,
  readRequiredScopes,
  readSecuritySchemes,
  type SecurityFields,
} from './security.ts';
import { judgeSecurity } from './security-notes.ts';
import { readUpstreams } from './upstreams.ts';

export interface OperationFields extends LimitFields, OperationLimits {
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

type Reader = ExtensionReader<OperationFields, ContractFields>;

/** `settings` take precedence. */
export const gatewayFields = (settings: OperationSettings): Reader => {
  const own = new Map(Object.entries(settings));
  return {
    judgeField,
    read(document, operations, findings) {
      applySettings(settings, document, operations, findings);
      noteResponseHeaders(document, operations, findings);
      judgeTags(objectsIn(document.root.tags), findings);
      judgeSecurity(document, operations, findings);
      const upstreamOf = readUpstreams(document, findings);
      const ratelimits = createRatelimits(document, operations, findings);
      return {
        fieldsOf: (operation, node) => {
          const requiredScopes = readRequiredScopes(node, findings);
          return {
            ...ratelimits.fieldsOf(operation, node),
            headersTimeout: readTimeout(node, findings),
            largestBody: own.get(operation.id)?.maxBodyBytes ?? null,
            requiredScopes,
            upstream: upstreamOf(operation, node),
            isPublic: isPublic(document, node, requiredScopes, findings),
          };
        },
        sharedBy: (served) => ({
          windows: ratelimits.windowsOf(served),
          ...readSecuritySchemes(document),
        }),
      };
    },
  };
};

/** The gateway adds headers after it has checked a response. */
function noteResponseHeaders(
  document: Document,
  operations: Parameters<Reader['read']>[1],
  findings: Findings,
): void {
  if ((document.reading.responses ?? 'off') === 'off') return;
  for (const [, node] of operations)
    for (const [, response] of document.members(node.responses)) {
      const described = document.object(response);
      if (described?.headers !== undefined)
        findings.note(
          described,
          'headers',
          'headers of responses are not checked',
        );
    }
}

/** The document's other objects are judged while they are read. */
function judgeTags(tags: readonly Json[], findings: Findings): void {
  for (const tag of tags) {
    for (const key of Object.keys(tag)) {
      const flaw = key.startsWith('x-') ? judgeField(key, 'tag') : null;
      if (flaw !== null) findings[flaw.severity](tag, key, flaw.message);
    }
  }
}

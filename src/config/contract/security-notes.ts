import {
  type Description,
  type Document,
  type Findings,
  isObject,
  type Json,
} from '@storegate/openapi';
import { isOwnHeader } from '../../common/key-headers.ts';
import { isBearer, REQUIRED_SCOPES } from './security.ts';

const SCOPES = `scopes in \`security\` are not checked: name them in ${REQUIRED_SCOPES}`;

/** The gateway checks API keys only, whatever schemes the document names. */
export function judgeSecurity(
  document: Document,
  operations: readonly (readonly [Description, Json])[],
  findings: Findings,
): void {
  const schemes = new Map(
    document.members(
      document.object(document.root.components)?.securitySchemes,
    ),
  );
  const used = new Set<Json>();

  function judgeRequirement(holder: Json, requirement: Json): void {
    for (const [name, scopes] of Object.entries(requirement)) {
      const scheme = document.object(schemes.get(name));
      if (scheme) used.add(scheme);
      else if (!schemes.has(name))
        findings.problem(
          holder,
          'security',
          `${name} is not defined in components/securitySchemes`,
        );
      if (
        !Array.isArray(scopes) ||
        !scopes.every((scope) => typeof scope === 'string')
      )
        findings.problem(
          holder,
          'security',
          `${name} must have a list of scopes, such as []`,
        );
      else if (scopes.length > 0 && holder[REQUIRED_SCOPES] === undefined)
        findings.note(holder, 'security', SCOPES);
    }
  }

  for (const holder of new Set([
    document.root,
    ...operations.map(([, node]) => node),
  ])) {
    const { security } = holder;
    if (security === undefined) continue;
    if (!Array.isArray(security) || !security.every(isObject))
      findings.problem(
        holder,
        'security',
        'must be a list of objects; an empty list needs no key',
      );
    else
      for (const requirement of security) judgeRequirement(holder, requirement);
  }
  for (const scheme of used) judgeScheme(scheme, findings);
}

const NEEDS_KEY = 'clients need an API key';

function judgeScheme(scheme: Json, findings: Findings): void {
  const { type, name } = scheme;
  switch (type) {
    case 'apiKey':
      if (scheme.in !== 'header')
        findings.note(
          scheme,
          'in',
          `keys in ${scheme.in} are not read: clients send them in a header`,
        );
      else if (
        !isOwnHeader(String(name)) &&
        String(name).toLowerCase() !== 'authorization'
      )
        findings.note(scheme, 'name', `the header ${name} cannot carry keys`);
      break;
    case 'http':
      if (!isBearer(scheme))
        findings.note(
          scheme,
          'scheme',
          `${scheme.scheme} is not checked: ${NEEDS_KEY}`,
        );
      break;
    case 'oauth2':
    case 'openIdConnect':
      findings.note(
        scheme,
        'type',
        `tokens of ${type} are not checked: ${NEEDS_KEY}`,
      );
      break;
    case 'mutualTLS':
      findings.note(
        scheme,
        'type',
        `certificates of clients are not checked: ${NEEDS_KEY}`,
      );
      break;
    default:
      findings.problem(
        scheme,
        'type',
        'must be apiKey, http, mutualTLS, oauth2 or openIdConnect',
      );
  }
}

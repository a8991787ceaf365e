import { isDeepStrictEqual } from 'node:util';
import { type Document, isObject, type Json } from '@storegate/openapi';
import { type Published, writeDocuments } from '@storegate/reference';
import type { KeyHeaders } from '../../../common/key-headers.ts';
import { USAGE_PATH } from '../../../common/reserved-paths.ts';
import { stripsPath } from '../../../config/apis.ts';
import type { Api, Config, OperationSettings } from '../../../config/config.ts';
import type { Compiled } from '../../../config/contract/contract.ts';
import { takesUsagePath } from '../../../config/own-paths.ts';
import { usageGroups, usageItem, usageNames } from '../usage-operation.ts';
import { type KeySchemes, keySchemes } from './key-schemes.ts';
import { componentNames, createNames } from './names.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { withRefusals } from './responses.ts';

/** The settings that the published document shows. */
export interface Publication {
  /** Whether the gateway serves `USAGE_PATH`. */
  readonly hasUsage: boolean;
  /** `null`: those of the contract. */
  readonly keyHeaders: KeyHeaders | null;
  /** Whether public operations need no key. */
  readonly hasPublicPlan: boolean;
  /** Whether an operation ends at its sunset. */
  readonly refusesAfterSunset: boolean;
  /** Whether requests that do not match are refused. */
  readonly refusesInvalid: boolean;
  readonly operations: OperationSettings;
  /** Where the API is. */
  readonly place: Place;
  readonly isAlone: boolean;
}

type Place = Pick<Api, 'host' | 'path' | 'stripPath'>;

export interface PublishingSettings extends Place {
  readonly contract: Pick<Config['contract'], 'afterSunset' | 'requests'>;
  readonly usage: Pick<Config['usage'], 'enabled'>;
  readonly keys: Pick<Config['keys'], 'headers'>;
  readonly plans: Pick<Config['plans'], 'publicPlan'>;
  readonly operations: OperationSettings;
  readonly isAlone: boolean;
}

export const publicationOf = ({
  contract,
  usage,
  keys,
  plans,
  operations,
  host,
  path,
  stripPath,
  isAlone,
}: PublishingSettings): Publication => ({
  hasUsage: usage.enabled,
  keyHeaders: keys.headers,
  hasPublicPlan: (plans.publicPlan ?? null) !== null,
  refusesAfterSunset: contract.afterSunset === 'refuse',
  refusesInvalid: contract.requests === 'enforce',
  operations,
  place: { host, path, stripPath },
  isAlone,
});

/** The document of the author as clients of this gateway need it. */
export function publishedDocuments(
  compiled: Compiled,
  publication: Publication,
): Published {
  const { document, prefixes, exempted } = compiled;
  const { root } = document;
  const { place } = publication;
  const parts = partsOf(compiled, publication);
  const published = {
    ...root,
    servers: hostOf(place) === null ? serversOf(place, prefixes) : undefined,
    security: parts.security,
    components: componentsWith(parts, document),
  };
  const names = publication.hasUsage ? usageNames(compiled, root) : null;
  if (names === null)
    return writeDocuments(published, exempted, replacements(compiled, parts));
  const { refusals, keys } = parts;
  const openapi = String(root.openapi);
  const security = keys.withKey([]);
  const isAtRoot = prefixes[0] !== '' && takesUsagePath(compiled);
  const { isAlone } = publication;
  const item = usageItem({
    ...names,
    security,
    refusals,
    openapi,
    isAtRoot,
    isAlone,
  });
  const withUsage = {
    ...published,
    ...usageGroups(root, names),
    tags: [...(Array.isArray(root.tags) ? root.tags : []), names.tag],
    paths: { ...document.object(root.paths), [USAGE_PATH]: item },
  };
  const others = exempted.filter(({ path }) => path !== USAGE_PATH);
  return writeDocuments(withUsage, others, replacements(compiled, parts));
}

interface Parts {
  readonly keys: KeySchemes;
  readonly refusals: Refusals;
  /** From the document. */
  readonly security: unknown;
  readonly publication: Publication;
}

function partsOf(
  { document, shared }: Compiled,
  publication: Publication,
): Parts {
  const { keyHeaders, hasPublicPlan } = publication;
  const { root } = document;
  const components = document.object(root.components) ?? {};
  const nameOf = createNames(componentNames(components));
  const schemes = document
    .members(sectionOf(document, 'securitySchemes'))
    .flatMap(([name, node]) => {
      const scheme = document.object(node);
      return scheme === null ? [] : [[name, scheme] as const];
    });
  const keys = keySchemes(
    new Map(schemes),
    keyHeaders ?? shared.keyHeaders,
    nameOf,
  );
  const security =
    hasPublicPlan && isPublic(root.security)
      ? root.security
      : keys.withKey(root.security);
  return {
    keys,
    refusals: createRefusals(nameOf, publication),
    security,
    publication,
  };
}

function isPublic(security: unknown): boolean {
  if (!Array.isArray(security)) return false;
  return (
    security.length === 0 ||
    security.some((one) => isObject(one) && Object.keys(one).length === 0)
  );
}

function sectionOf(document: Document, name: string): Json {
  const components = document.object(document.root.components) ?? {};
  return document.object(components[name]) ?? {};
}

function componentsWith({ keys, refusals }: Parts, document: Document): Json {
  return {
    ...document.object(document.root.components),
    schemas: { ...sectionOf(document, 'schemas'), ...refusals.schemas },
    responses: { ...sectionOf(document, 'responses'), ...refusals.responses },
    securitySchemes: {
      ...sectionOf(document, 'securitySchemes'),
      ...keys.added,
    },
  };
}

/** `null`: the documents have relative URLs. A wildcard has the host that they are read at. */
export const hostOf = ({ host }: Pick<Place, 'host'>): string | null =>
  host?.startsWith('*') ? null : host;

/** Relative without `origin`: an API without a host is reached under all names of the gateway. */
export function serversOf(
  place: Pick<Place, 'path' | 'stripPath'>,
  prefixes: readonly string[],
  origin = '',
): Json[] {
  const begin = origin + (stripsPath(place, prefixes) ? place.path : '');
  // Two slashes would begin the name of another host.
  const paths = prefixes.filter((prefix) => !prefix.startsWith('//'));
  const urls = paths.length === 0 ? [''] : paths;
  return urls.map((path) => ({
    url: (begin + path).replace(/[{}]/g, encodeURIComponent) || '/',
    description: 'This gateway',
  }));
}

/** The author's objects, and what is published in place of them. */
function replacements(
  { document, operations }: Compiled,
  parts: Parts,
): ReadonlyMap<Json, Json> {
  const { root } = document;
  const { security, publication } = parts;
  const withKey = remember(parts.keys.withKey);
  const replaced = new Map<Json, Json>();
  for (const described of operations) {
    const { path, method, isPublic } = described;
    const item = document.object((root.paths as Json)[path])!;
    const { servers: _ofItem, ...itemWithoutServers } = item;
    const operation = item[method.toLowerCase()] as Json;
    const { servers: _own, ...rest } = operation;
    const needsKey = !(isPublic && publication.hasPublicPlan);
    const given = operation.security ?? root.security;
    const needed = needsKey ? withKey(given) : given;
    const isInherited =
      operation.security === undefined && isDeepStrictEqual(needed, security);
    const changed = isInherited ? rest : { ...rest, security: needed };
    const takesBody = operation.requestBody !== undefined && method !== 'HEAD';
    const { refusesAfterSunset, refusesInvalid } = publication;
    const checks =
      refusesInvalid && described.exempt === null && !described.reportOnly;
    const facts = {
      needsKey,
      takesBody,
      checksBody: takesBody && checks,
      hasPathParameters: refusesInvalid && path.includes('{'),
      requiresScopes: described.requiredScopes.length > 0,
      endsAtSunset: refusesAfterSunset && described.sunset !== null,
      hasBackend: true,
    };
    const responses = withRefusals(document, operation, parts.refusals, facts);
    replaced.set(item, itemWithoutServers);
    replaced.set(operation, { ...changed, ...responses });
  }
  return replaced;
}

/** Most operations share a list. */
function remember(withKey: KeySchemes['withKey']): KeySchemes['withKey'] {
  const cache = new Map<unknown, readonly Json[]>();
  return (security) => {
    const requirements = cache.get(security) ?? withKey(security);
    cache.set(security, requirements);
    return requirements;
  };
}

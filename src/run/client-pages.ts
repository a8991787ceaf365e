import type { FindPage } from '@storegate/pages';
import { createReference, createReferences } from '@storegate/reference';
import { ERROR_CODES, errorCodesOf } from '../common/errors/catalogue.ts';
import { keyHeaders } from '../common/key-headers.ts';
import {
  CONTRACT_JSON_PATH,
  CONTRACT_YAML_PATH,
  REFERENCE_PATH,
  USAGE_PATH,
} from '../common/reserved-paths.ts';
import { DEFAULT_API, prefixOf } from '../config/apis.ts';
import type { Api, Config } from '../config/config.ts';
import type { Contract } from '../config/contract/contract.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import { hostOf, serversOf } from '../gateway/own/published/document.ts';
import { withUsage } from '../gateway/own/usage-operation.ts';
import { publicPlanOf } from '../gateway/stages/anonymous.ts';
import { isShown } from '../limits/admission.ts';
import type { Plan } from '../limits/plans.ts';
import { countsIn, readScope, scopeOfApi } from '../limits/scopes.ts';
import type { ActiveApi } from './apis.ts';
import type { ActiveConfig } from './reload.ts';

/** Without a contract its paths are the backend's. */
export const hasReference = ({
  contract,
  reference,
}: Pick<Api, 'contract' | 'reference'>): boolean =>
  reference.enabled && contract.file !== NO_CONTRACT;

/** Of one API alone, or of one of several, where the first keeps its documents. */
export function documentPaths({ name }: Api, { apis }: ActiveConfig<Config>) {
  const page = `${REFERENCE_PATH}/${apis.length === 1 ? '' : `${name}/`}`;
  return name === DEFAULT_API
    ? { page, json: CONTRACT_JSON_PATH, yaml: CONTRACT_YAML_PATH }
    : { page, json: `${page}openapi.json`, yaml: `${page}openapi.yaml` };
}

/** Made at the first visit: a gateway may have many. */
function onFirstVisit(create: () => FindPage): FindPage {
  let find: FindPage | null = null;
  return (path, request) => {
    find ??= create();
    return find(path, request);
  };
}

export function findPages(settings: ActiveConfig<Config>): FindPage {
  const described = settings.apis.filter(({ api }) => hasReference(api));
  const apis = described.map((one) => ({
    name: one.api.name,
    title: one.api.reference.title ?? one.contract.title,
    paths: documentPaths(one.api, settings),
    find: onFirstVisit(() => referenceOf(one, settings)),
  }));
  if (settings.apis.length === 1 && apis.length === 1) return apis[0]!.find;
  return createReferences(`${REFERENCE_PATH}/`, apis, ERROR_CODES);
}

/** Unless an operation has `/`, or every path is the backend's. */
export function homeOf(
  { api, contract }: ActiveApi,
  settings: ActiveConfig<Config>,
): string | null {
  const match = contract.match('GET', '/');
  const isFree = match.operation === null && match.allow === null;
  return isFree && hasReference(api) ? documentPaths(api, settings).page : null;
}

/** Without windows that only watch, or count requests to other APIs. */
function forClients(plan: Plan, { name }: Api): Plan {
  const scopes = [scopeOfApi(name)];
  const windows = plan.windows?.filter(
    (window) => isShown(window) && countsIn(window, scopes),
  );
  return { ...plan, windows: windows ?? null };
}

/** As in its document, without the name of the API. */
function withOwnIds(api: Api, contract: Contract): Contract {
  const prefix = prefixOf(api);
  if (prefix === null) return contract;
  const operations = contract.operations.map((operation) => ({
    ...operation,
    id: operation.id.slice(prefix.length + 1),
  }));
  return { ...contract, operations };
}

function referenceOf(
  { api, contract, prepared }: ActiveApi,
  settings: ActiveConfig<Config>,
): FindPage {
  const open = publicPlanOf({ config: api, contract });
  const listed = withOwnIds(api, contract);
  const host = hostOf(api);
  return createReference({
    branding: api.reference,
    contract: api.usage.enabled ? withUsage(listed) : listed,
    published: prepared.published,
    own:
      host === null
        ? null
        : {
            host,
            serversAt: (origin) => serversOf(api, contract.prefixes, origin),
          },
    paths: documentPaths(api, settings),
    assets: `${REFERENCE_PATH}/assets/`,
    readers: {
      keyHeaders: keyHeaders(api.keys.headers ?? contract.keyHeaders),
      usage: api.usage.enabled ? USAGE_PATH : null,
      limits: {
        plans: [
          ...api.plans.plans.values(),
          ...(open === null ? [] : [open]),
        ].map((plan) => forClients(plan, api)),
        bans: api.plans.escalation,
        scoped: contract.windows
          .filter(isShown)
          .map((window) => ({ ...readScope(window.scope!), window })),
      },
    },
    errors: errorCodesOf(api),
  });
}

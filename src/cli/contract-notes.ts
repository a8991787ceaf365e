import { USAGE_PATH } from '../common/reserved-paths.ts';
import type { Api } from '../config/config.ts';
import type { Contract } from '../config/contract/contract.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import { shortList } from './output.ts';

/** What the contract means for paths and keys. */
export function contractNotes(
  { contract: { file }, keys, plans, usage }: Api,
  { operations, prefixes, sharesAuthorization }: Contract,
): string[] {
  const open = plans.publicPlan
    ? operations.filter(({ isPublic }) => isPublic)
    : [];
  const [prefix] = prefixes;
  return [
    file === NO_CONTRACT ? withoutContract(usage.enabled) : null,
    prefix
      ? `request paths begin with ${prefixes.filter((one) => one !== '').join(' or ')}, the path of servers`
      : null,
    open.length === 0
      ? null
      : `without a key: ${shortList(
          open.map(({ id }) => id),
          MAX_NAMED,
        )} (security of the contract)`,
    sharesAuthorization && keys.headers === null ? SHARED_AUTHORIZATION : null,
  ].filter((note) => note !== null);
}

function withoutContract(hasUsage: boolean): string {
  const paths = hasUsage
    ? `every path but ${USAGE_PATH} (usage.enabled)`
    : 'every path';
  return `requests are not validated, and ${paths} is forwarded (contract.file: none)`;
}

const SHARED_AUTHORIZATION =
  'Authorization: Bearer carries the key and does not reach the backend; if the backend has tokens of its own, set keys.headers: [X-API-Key]';

const MAX_NAMED = 10;

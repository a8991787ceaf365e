import { shortDigest } from '../common/digest.ts';
import type { Config } from '../config/config.ts';
import type { Contracts } from '../config/contract/contract.ts';
import { describeConfig } from '../config/describe.ts';
import { differences, keepsValue } from '../config/restart.ts';
import { settingSchema } from '../config/settings.ts';
import { formatWindows } from '../config/windows.ts';
import type { Plan, Plans } from '../limits/plans.ts';
import { escalationView, planView } from './view.ts';

export interface Configured {
  readonly config: Config;
  readonly contract: Contracts;
}

/** Safe to show: without secrets. */
export function differencesBetween(inForce: Configured, inFiles: Configured) {
  const [before, after] = [inForce.config.plans, inFiles.config.plans];
  const bans = pair(
    before.escalation && escalationView(before.escalation),
    after.escalation && escalationView(after.escalation),
  );
  return {
    settings: settingsThatDiffer(inForce.config, inFiles.config),
    plans: entriesThatDiffer(allPlans(before), allPlans(after), planView),
    accounts: entriesThatDiffer(
      ownLimits(before),
      ownLimits(after),
      (limits) => limits,
    ),
    bans: isSame(bans) ? null : bans,
    contract: contractThatDiffers(inForce.contract, inFiles.contract),
  };
}

/** `null`: absent. */
interface Pair<T> {
  readonly inForce: T | null;
  readonly inFiles: T | null;
}

const pair = <T>(inForce: T | null, inFiles: T | null): Pair<T> => ({
  inForce,
  inFiles,
});

const isSame = ({ inForce, inFiles }: Pair<unknown>): boolean =>
  JSON.stringify(inForce) === JSON.stringify(inFiles);

function settingsThatDiffer(inForce: Config, inFiles: Config) {
  const [before, after] = [described(inForce), described(inFiles)];
  return differences(inForce, inFiles).map((name) => {
    const { value, source } = after.get(name)!;
    return {
      name,
      inForce: before.get(name)!.value,
      inFiles: value,
      source,
      restart: keepsValue(name, inFiles),
      masked: settingSchema(name)['x-secret'] !== undefined,
    };
  });
}

const described = (config: Config) =>
  new Map(describeConfig(config).map((setting) => [setting.name, setting]));

function entriesThatDiffer<T, S>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  show: (one: T) => S,
): ({ readonly name: string } & Pair<S>)[] {
  const shown = (one: T | undefined) => (one === undefined ? null : show(one));
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((name) => ({
      name,
      ...pair(shown(before.get(name)), shown(after.get(name))),
    }))
    .filter((entry) => !isSame(entry));
}

/** With the limits of requests without a key. */
function allPlans({ plans, publicPlan }: Plans): ReadonlyMap<string, Plan> {
  return publicPlan
    ? new Map([...plans, [publicPlan.name, publicPlan]])
    : plans;
}

/** As text: `5000/minute,2000000/day, 200 in flight`. */
function ownLimits({
  accounts,
  concurrencies,
}: Plans): ReadonlyMap<string, string> {
  return new Map(
    [...accounts].map(([name, windows]) => {
      const inFlight = concurrencies?.get(name);
      return [
        name,
        `${formatWindows(windows)}${inFlight === undefined ? '' : `, ${inFlight} in flight`}`,
      ];
    }),
  );
}

function contractThatDiffers(inForce: Contracts, inFiles: Contracts) {
  if (inForce.fingerprint === inFiles.fingerprint) return null;
  const [before, after] = [inForce.digests, inFiles.digests];
  return {
    inForce: shownContract(inForce),
    inFiles: shownContract(inFiles),
    added: [...after.keys()].filter((id) => !before.has(id)),
    removed: [...before.keys()].filter((id) => !after.has(id)),
    changed: [...after]
      .filter(([id, digest]) => before.has(id) && before.get(id) !== digest)
      .map(([id]) => id),
  };
}

function shownContract({ title, version, fingerprint, operations }: Contracts) {
  return {
    title,
    version,
    digest: shortDigest(fingerprint),
    operations: operations.length,
  };
}

import type { PlanDraft } from '@storegate/admin-api';
import { deepFreeze } from '../common/freeze.ts';
import type { BanEscalation, Window } from '../limits/limits.ts';
import {
  apiFault,
  type Plan,
  type PlanAddresses,
  type Plans,
  PUBLIC_PLAN,
} from '../limits/plans.ts';
import { converted, NO_SURROUNDINGS } from './conversions.ts';
import { step, touches } from './problems/pointers.ts';
import { byPosition, ConfigError, type Problem } from './problems/problems.ts';
import { quote } from './problems/quote.ts';
import { type SchemaError, schemaErrors, valueError } from './schema/errors.ts';
import { schemaOf } from './schema/schema.ts';
import { settingsOf } from './settings.ts';
import { parseDuration } from './units.ts';
import {
  toWindows,
  type WindowEntry,
  watching,
  windowErrors,
} from './windows.ts';
import { parseYaml, problemIn, type YamlFile } from './yaml/file.ts';

interface PlansDocument {
  readonly plans: Readonly<Record<string, PlanEntry>>;
  readonly accounts?: Readonly<Record<string, AccountEntry>> | null;
  readonly public?: 'off' | Partial<AccountEntry>;
  readonly bans?: 'off' | { readonly durations?: readonly string[] };
}

interface PlanEntry extends Partial<AccountEntry> {
  readonly custom?: true;
  readonly count?: Plan['count'];
  readonly weight?: number;
  readonly workers?: number;
  readonly addresses?: Partial<PlanAddresses> | null;
}

interface AccountEntry {
  readonly windows: readonly WindowEntry[];
  readonly enforce?: boolean;
  readonly concurrency?: number;
}

type EnforcedWindows = Pick<AccountEntry, 'windows'> & {
  readonly enforce?: boolean | undefined;
};

/** A text for plans.yaml. Throws ConfigError with every mistake in it. `apis`: see `readPlans`. */
export function parsePlans(text: string, apis?: readonly string[]): Plans {
  const { plans, problems } = readPlans(parseYaml(text, 'plans.yaml'), apis);
  if (plans === null) throw new ConfigError(problems);
  return plans;
}

/**
 * `plans` is `null` if there are problems. `apis`: names of the APIs, empty if one is alone;
 * absent: unknown.
 */
export function readPlans(
  read: YamlFile,
  apis?: readonly string[],
): {
  plans: Plans | null;
  problems: readonly Problem[];
} {
  const { value, problems: unreadable } = read;
  if (value === undefined) return { plans: null, problems: unreadable };

  const schema = schemaErrors(value, 'plans');
  const sound = (pointer: string) =>
    !schema.some((flaw) => touches(flaw.pointer, pointer));
  const found = [...schema, ...ruleErrors(value, sound, apis)].map((flaw) =>
    problemIn(read, flaw),
  );
  const problems = [...unreadable, ...found].sort(byPosition);
  return {
    plans:
      problems.length === 0
        ? deepFreeze(plansOf(value as PlansDocument, apis))
        : null,
    problems,
  };
}

/** Only for parts that passed the schema, so that each mistake is reported once. */
function ruleErrors(
  value: unknown,
  sound: (pointer: string) => boolean,
  apis: readonly string[] | undefined,
): SchemaError[] {
  const {
    plans,
    accounts,
    public: anyone,
    bans,
  } = Object(value) as Partial<PlansDocument>;
  const windows = [
    ...windowsIn('/plans', plans),
    ...windowsIn('/accounts', accounts),
    ...windowsIn('', typeof anyone === 'object' ? { public: anyone } : {}),
  ];
  const checked = windows.filter(({ pointer }) => sound(pointer));
  const durations =
    typeof bans === 'object' && sound('/bans/durations')
      ? (bans.durations ?? [])
      : [];
  return [
    ...checked.flatMap(({ pointer, entries }) => [
      ...windowErrors(entries, pointer),
      ...(apis === undefined ? [] : apiErrors(entries, pointer, apis)),
    ]),
    ...enforceErrors(plans).filter(({ pointer }) => sound(pointer)),
    ...durationErrors(durations),
  ];
}

function windowsIn(
  section: string,
  subjects: PlansDocument['plans'] | PlansDocument['accounts'],
) {
  return Object.entries(subjects ?? {}).flatMap(([name, subject]) => {
    const pointer = step(step(section, name), 'windows');
    return subject?.windows === undefined
      ? []
      : [{ pointer, entries: subject.windows }];
  });
}

function apiErrors(
  entries: readonly WindowEntry[],
  pointer: string,
  apis: readonly string[],
): SchemaError[] {
  return entries.flatMap(({ api }, i) => {
    const fault = api === undefined ? null : apiFault(api, { apis });
    return fault === null
      ? []
      : [
          valueError(
            step(step(pointer, i), 'api'),
            `${fault}, is ${quote(api)}`,
          ),
        ];
  });
}

/** Limits of keys and accounts are written elsewhere. */
function enforceErrors(
  plans: PlansDocument['plans'] | null | undefined,
): SchemaError[] {
  return Object.entries(plans ?? {}).flatMap(([name, plan]) => {
    if (plan?.custom !== true || plan.enforce === undefined) return [];
    const pointer = step(step('/plans', name), 'enforce');
    return [
      valueError(
        pointer,
        'must be absent for a custom plan: set it for accounts',
      ),
    ];
  });
}

function durationErrors(durations: readonly string[]): SchemaError[] {
  return durations.flatMap((length, index) => {
    const before = durations[index - 1];
    if (
      before === undefined ||
      parseDuration(before)! <= parseDuration(length)!
    )
      return [];
    const message = `must not be shorter than the ban before it (${before}), is ${length}`;
    return [valueError(step('/bans/durations', index), message)];
  });
}

function plansOf(
  { plans, accounts, public: anyone = {}, bans }: PlansDocument,
  apis: readonly string[] = [],
): Plans {
  const own = Object.entries(accounts ?? {});
  const concurrencies = own.flatMap(([name, { concurrency }]) =>
    concurrency === undefined ? [] : [[name, concurrency] as const],
  );
  return {
    plans: new Map(
      Object.entries(plans).map(([name, plan]) => [name, planOf(name, plan)]),
    ),
    publicPlan: anyone === 'off' ? null : publicPlanOf(anyone),
    escalation: bans === 'off' ? null : escalationOf(bans),
    accounts: new Map(own.map(([name, account]) => [name, windowsOf(account)])),
    ...(concurrencies.length > 0 && { concurrencies: new Map(concurrencies) }),
    ...(apis.length > 0 && { apis }),
  };
}

function planOf(
  name: string,
  {
    windows,
    enforce,
    count = 'key',
    concurrency,
    weight,
    workers,
    addresses,
  }: PlanEntry,
): Plan {
  return {
    name,
    count,
    windows: windows === undefined ? null : windowsOf({ windows, enforce }),
    ...(concurrency !== undefined && { concurrency }),
    ...(weight !== undefined && { weight }),
    ...(workers !== undefined && { workers }),
    ...addressesOf(addresses),
  };
}

function windowsOf({
  windows,
  enforce = true,
}: EnforcedWindows): readonly Window[] {
  return enforce ? toWindows(windows) : watching(toWindows(windows));
}

function publicPlanOf(written: Partial<AccountEntry>): Plan {
  const usual = settingsOf('plans').get('public.windows')!
    .default as readonly WindowEntry[];
  return planOf(PUBLIC_PLAN, { ...written, windows: written.windows ?? usual });
}

/** A limit of few units may be shared by this many workers. */
const MIN_WORKERS = 20;

function escalationOf(written: PlansDocument['bans']): BanEscalation {
  const schema = schemaOf('plans');
  const read = converted(
    written,
    schema.properties!.bans!,
    NO_SURROUNDINGS,
    schema,
  ) as Omit<BanEscalation, 'minWorkers'>;
  return { ...read, minWorkers: Math.min(MIN_WORKERS, read.workers) };
}

export function addressesOf(
  written: PlanDraft['addresses'],
): Pick<Plan, 'addresses'> {
  const { allow = [], deny = [] } = written ?? {};
  return allow.length + deny.length === 0 ? {} : { addresses: { allow, deny } };
}

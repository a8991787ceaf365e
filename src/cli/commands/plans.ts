import type {
  LastDay,
  Plan,
  PlanAddresses,
  PlanDraft,
  PlanSimulation,
} from '@storegate/admin-api';
import {
  excessesText,
  limitedText,
  missingGateways,
  NO_LAST_DAY,
  simulatedRequests,
  simulationGaps,
  unitsText,
} from '@storegate/admin-api/text';
import {
  call,
  command,
  limitsOfPlan,
  operation,
  option,
  reader,
  repeated,
  wholeNumber,
} from '../command.ts';
import { type Api, CommandError } from '../connect/api.ts';
import { inSentence, listView, type Page, type View } from '../output.ts';

interface Changes extends Omit<PlanDraft, 'limits' | 'addresses'> {
  readonly limits?: string;
  readonly create?: true;
  readonly custom?: true;
  readonly allow?: string[];
  readonly deny?: string[];
  readonly addresses?: boolean;
}

type Listed = Omit<Plan, 'count'> & { readonly count: string };

/** The word stands for `null`. */
const numberOr = (word: string) =>
  reader(
    (text) => text === word || /^[1-9]\d{0,8}$/.test(text),
    `Use a whole number from 1, or ${word}.`,
    (text) => (text === word ? null : Number(text)),
  );

const CHANGES = [
  option('--create', 'the plan may be new; otherwise it must exist'),
  option(
    '--limits <limits>',
    'e.g. 60/minute,1000/day, or 60/minute@notes for one of several APIs; what is not named stays: other windows, and kind, zone, first day and +watch of a window',
    limitsOfPlan,
  ),
  option(
    '--drop <window>',
    'remove a window, e.g. day or day@notes, before --limits are set; repeatable',
    repeated,
  ),
  option('--custom', 'no limits: each key or account has its own'),
  option('--count <subject>', 'count per key or per account').choices([
    'key',
    'account',
  ]),
  option(
    '--concurrency <number>',
    'maximum concurrent requests, or none',
    numberOr('none'),
  ),
  option(
    '--workers <number>',
    'workers that may share a key: free refusals per wait, or auto (by the limits)',
    numberOr('auto'),
  ),
  option(
    '--weight <number>',
    'share of a saturated backend, 1 to 1000',
    wholeNumber,
  ),
  option(
    '--allow <block>',
    'allowed client address or block; repeatable',
    repeated,
  ),
  option(
    '--deny <block>',
    'denied client address or block; repeatable',
    repeated,
  ),
  option('--no-addresses', 'allow any address'),
];

const SIMULATION: View<PlanSimulation> = ({ lastDay, ...now }, page) =>
  page.card(now) + (lastDay ? `\n${showLastDay(lastDay, page)}` : '');

const EXAMPLE = 'plans simulate free --limits 30/minute';

const PLAN: View<Plan> = ({ excess, ...plan }, page) => {
  const sentences = excessesText({ excess, count: plan.count });
  return page.card(plan) + page.notes(...sentences);
};

export const planCommands = command(
  'plans',
  'show, simulate and change plans',
  {
    examples: [EXAMPLE],
    commands: [
      call('list', 'list plans', {
        ask: async (api): Promise<readonly Listed[]> => {
          const { plans, public: open } = await api.call('listPlans');
          return [
            ...plans,
            ...open.map((plan): Listed => ({ ...plan, count: 'address' })),
          ];
        },
        view: listView(
          ['name', 'limits', 'count', 'concurrency', 'weight', 'keys'],
          'No plans.',
        ),
        note: noteOfFiles,
      }),
      call('get <plan>', 'show a plan', {
        examples: ['plans get free'],
        ...operation('getPlan'),
        view: PLAN,
        note: noteOfFiles,
      }),
      call(
        'simulate <plan>',
        'show the effect of a plan on current keys and on the last day',
        {
          options: CHANGES,
          examples: ['plans simulate free --limits 30/minute --drop day'],
          ...operation('simulatePlan', bodyOf),
          view: SIMULATION,
        },
      ),
      call(
        'set <plan>',
        'create or change a plan in the plans file, and apply it',
        {
          options: CHANGES,
          examples: ['plans set free --limits 30/minute --drop day'],
          ...operation('setPlan', bodyOf),
          view: SIMULATION,
        },
      ),
    ],
  },
);

/** A running gateway reads changed files itself, so they differ only if it has refused them. */
async function noteOfFiles({
  call,
  isBesideFiles,
}: Api): Promise<string | null> {
  if (!isBesideFiles) return null;
  const { gateways } = await call('getStatus');
  const isRefused = gateways.some(
    ({ configuration }) =>
      (configuration.lastReload?.problems ?? []).length > 0,
  );
  return isRefused
    ? 'The files are not in force: storegate config diff shows why.'
    : null;
}

function showLastDay(day: LastDay, page: Page): string {
  const { windows, subjects } = day;
  if (day.since === null)
    return page.notes(NO_LAST_DAY, ...missingGateways(day, inSentence));
  const clients = subjects.flatMap(({ key, account, windows }) =>
    windows.map(({ refused, ...window }) => ({
      key,
      account,
      ...window,
      refused: unitsText(refused),
    })),
  );
  return [
    page.table(
      ['window', 'limit', 'would have limited', 'refused'],
      windows.map((window) => ({
        window: window.name,
        limit: window.limit,
        'would have limited': limitedText(window),
        refused: window.refused && unitsText(window.refused),
      })),
    ),
    clients.length === 0
      ? ''
      : `\n${page.table(['key', 'account', 'window', 'peak', 'began', 'times', 'refused'], clients)}`,
    page.notes(
      ...simulatedRequests(day, inSentence),
      ...simulationGaps(day, inSentence),
      ...missingGateways(day, inSentence),
    ),
  ].join('');
}

const USAGE = { failure: 'usage' } as const;

/** Throws CommandError without a change, and for limits of a plan without limits. */
function bodyOf(changes: Changes): PlanDraft {
  const { limits: windows, custom, drop, count } = changes;
  const { concurrency, weight, workers } = changes;
  const body = {
    limits: custom ? null : windows,
    drop,
    count,
    concurrency,
    weight,
    workers,
    addresses: addressesOf(changes),
  };
  if (custom && (windows !== undefined || drop !== undefined))
    throw new CommandError(
      'Use either --custom, or --limits and --drop.',
      USAGE,
    );
  if (Object.values(body).every((value) => value === undefined))
    throw new CommandError('Name a change, such as --limits 30/minute.', USAGE);
  return { ...body, create: changes.create };
}

function addressesOf({
  allow,
  deny,
  addresses,
}: Changes): PlanAddresses | null | undefined {
  if (allow === undefined && deny === undefined)
    return addresses === false ? null : undefined;
  return { allow: allow ?? [], deny: deny ?? [] };
}

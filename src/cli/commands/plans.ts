import type { BodyOf, Plan, PlanAddresses } from '@storegate/console';
import { type Command, InvalidArgumentError } from 'commander';
import { addCall, addCommand, type Options, option, repeated, segment, wholeNumber } from '../command.ts';
import { CallError } from '../connect/api.ts';
import { cardView, listView } from '../output.ts';
import { simulationView } from '../simulation.ts';
import type { Terminal } from '../terminal.ts';

interface Changes {
  readonly limits?: string;
  readonly custom?: true;
  readonly drop?: string[];
  readonly count?: Plan['count'];
  readonly concurrency?: number | null;
  readonly weight?: number;
  readonly allow?: string[];
  readonly deny?: string[];
  readonly addresses?: boolean;
}

type Listed = Omit<Plan, 'count'> & { readonly count: string };

const CHANGES = [
  option('--limits <limits>', 'e.g. 60/minute,1000/day; windows not named stay'),
  option('--drop <window>', 'remove a window, e.g. day; repeatable', repeated),
  option('--custom', 'no limits: each key or account has its own'),
  option('--count <subject>', 'count per key or per account').choices(['key', 'account']),
  option('--concurrency <number>', 'maximum concurrent requests, or none', numberOrNone),
  option('--weight <number>', 'share of a saturated backend, 1 to 1000', wholeNumber),
  option('--allow <block>', 'allowed client address or block; repeatable', repeated),
  option('--deny <block>', 'denied client address or block; repeatable', repeated),
  option('--no-addresses', 'allow any address'),
];

export function addPlans(program: Command, terminal: Terminal): void {
  const example = 'plans simulate free --limits 30/minute';
  const plans = addCommand(program, 'plans', { about: 'show, simulate and change plans', examples: [example] });
  const nameOf = ({ name }: Pick<Plan, 'name'>) => name;

  addCall(terminal, plans, 'list', {
    about: 'list plans',
    examples: ['plans list'],
    ask: async (api): Promise<readonly Listed[]> => {
      const { plans, public: open } = await api.call('GET', '/plans');
      return [...plans, ...open.map((plan): Listed => ({ ...plan, count: 'address' }))];
    },
    view: listView(['name', 'limits', 'count', 'concurrency', 'weight', 'keys'], 'No plans.', nameOf),
  });
  addCall(terminal, plans, 'get <plan>', {
    about: 'show a plan',
    examples: ['plans get free'],
    ask: (api, _options, plan: string) => api.call('GET', `/plans/${segment(plan)}`),
    view: cardView(nameOf),
  });
  for (const [name, about] of [
    ['simulate', 'show the effect of a plan on current keys and on the last day'],
    ['set', 'create or change a plan in the plans file, and apply it'],
  ] as const) {
    addCall(terminal, plans, `${name} <plan>`, {
      about,
      options: CHANGES,
      ...(name === 'set' && { changes: true }),
      examples: [`plans ${name} free --limits 30/minute --drop day`],
      ask(api, options: Options & Changes, plan: string) {
        const sent = { body: bodyOf(options) };
        const path = `/plans/${segment(plan)}` as const;
        return name === 'set' ? api.call('PUT', path, sent) : api.call('POST', `${path}/simulate`, sent);
      },
      view: simulationView,
    });
  }
}

/** Throws CallError without a change, and for limits of a plan without limits. */
function bodyOf(changes: Changes): BodyOf<'setPlan'> {
  const { limits, custom, drop, count, concurrency, weight } = changes;
  const body = {
    limits: custom ? null : limits,
    drop,
    count,
    concurrency,
    weight,
    addresses: addressesOf(changes),
  };
  const isContradiction = custom && (limits !== undefined || drop !== undefined);
  if (isContradiction || Object.values(body).every((value) => value === undefined))
    throw new CallError('Use either --limits or --custom; --drop removes a window.', { failure: 'usage' });
  return body;
}

function addressesOf({ allow, deny, addresses }: Changes): PlanAddresses | null | undefined {
  if (allow === undefined && deny === undefined) return addresses === false ? null : undefined;
  return { allow: allow ?? [], deny: deny ?? [] };
}

function numberOrNone(text: string): number | null {
  if (text === 'none') return null;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Use a whole number from 1, or none.');
}

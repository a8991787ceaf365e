import type { Plan, PlanAddresses, PlanSimulation, Plans } from '@storegate/console';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Common, changingCommand, operatorCommand, paragraph, perform, several } from '../command.ts';
import { printSimulation } from '../last-day.ts';
import { card, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = ['name', 'limits', 'count', 'concurrency', 'weight', 'keys'] as const;
interface Changes {
  readonly limits?: string;
  readonly custom?: true;
  readonly drop?: string[];
  readonly count?: string;
  readonly concurrency?: number | null;
  readonly weight?: number;
  readonly allow?: string[];
  readonly deny?: string[];
  readonly addresses?: false;
}

export function plansCommand(terminal: Terminal): Command {
  const plans = new Command('plans').description('see plans, try changes, and put them in force');

  operatorCommand(plans.command('list').description('list the plans in force'), 'plans list').action(
    (options: Common) =>
      perform(
        terminal,
        options,
        async (api) => (await api.call<Plans>('GET', '/plans')).plans,
        (rows, colour) => table(COLUMNS, rows, colour),
      ),
  );
  operatorCommand(
    plans.command('get').description('show one plan').argument('<plan>', 'name of the plan'),
    'plans get free',
  ).action((plan: string, options: Common) =>
    perform(terminal, options, (api) => api.call<Plan>('GET', `/plans/${paragraph(plan)}`), card),
  );

  for (const [name, description, method, end] of [
    ['simulate', 'tell what a plan would change, without changing it', 'POST', '/simulate'],
    ['set', 'write a plan into the plans file and put it in force', 'PUT', ''],
  ] as const) {
    const command = plans
      .command(name)
      .description(description)
      .argument('<plan>', 'name of the plan, known or new')
      .option('--limits <limits>', 'such as 60/minute,1000/day; windows that are not named stay')
      .option('--drop <window>', 'window to take away, such as day; may be repeated', several)
      .option('--custom', 'no limits: each key or account has its own')
      .addOption(new Option('--count <who>', 'who is counted').choices(['key', 'account']))
      .option('--concurrency <number>', 'requests that may be in flight at once, or none for any number', wholeOrNone)
      .option('--weight <number>', "the plan's part of a busy store, beside the weights of the others", whole)
      .option('--allow <block>', 'address or block its keys may be used from; may be repeated', several)
      .option('--deny <block>', 'address or block they may not be used from; may be repeated', several)
      .option('--no-addresses', 'let its keys be used from anywhere');
    (name === 'set' ? changingCommand : operatorCommand)(
      command,
      `plans ${name} free --limits 30/minute`,
      `plans ${name} free --limits 30/minute --drop day`,
      `plans ${name} free --concurrency 20 --weight 1`,
      `plans ${name} pro --allow 198.51.100.0/24 --deny 198.51.100.66`,
    ).action((plan: string, { limits, custom, drop, ...options }: Common & Changes) => {
      const { count, concurrency, weight } = options;
      const addresses = addressesIn(options);
      const named = [limits ?? drop, custom].filter((value) => value !== undefined);
      const others = [count, concurrency, weight, addresses].some((value) => value !== undefined);
      if (named.length !== 1 && !(named.length === 0 && others)) {
        command.error('error: say either --limits or --custom; --drop takes a window away', { exitCode: 2 });
      }
      return perform(
        terminal,
        options,
        (api) =>
          api.call<PlanSimulation>(method, `/plans/${paragraph(plan)}${end}`, {
            body: { limits: custom ? null : limits, drop, count, concurrency, weight, addresses },
          }),
        printSimulation,
      );
    });
  }
  return plans;
}

/** The lists in place of those that the plan has; `null`: none. */
function addressesIn({ allow, deny, addresses }: Changes): PlanAddresses | null | undefined {
  if (allow === undefined && deny === undefined) return addresses === false ? null : undefined;
  return { allow: allow ?? [], deny: deny ?? [] };
}

function whole(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return Number(text);
}

function wholeOrNone(text: string): number | null {
  return text === 'none' ? null : whole(text);
}

import { Command, Option } from 'commander';
import { type Common, changingCommand, operatorCommand, part, perform, several } from '../command.ts';
import { showTrial, type Trial } from '../last-day.ts';
import { card, type Row, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = ['name', 'limits', 'count', 'keys'] as const;
interface Changes {
  readonly limits?: string;
  readonly custom?: true;
  readonly drop?: string[];
  readonly count?: string;
}

type Plan = Row<(typeof COLUMNS)[number]>;

export function plansCommand(terminal: Terminal): Command {
  const plans = new Command('plans').description('see plans, try changes, and put them in force');

  operatorCommand(plans.command('list').description('list the plans in force'), 'plans list').action(
    (options: Common) =>
      perform(
        terminal,
        options,
        async (api) => ((await api.call('GET', '/plans')) as { plans: Plan[] }).plans,
        (rows, colour) => table(COLUMNS, rows, colour),
      ),
  );
  operatorCommand(
    plans.command('show').description('show one plan').argument('<plan>', 'name of the plan'),
    'plans show free',
  ).action((plan: string, options: Common) =>
    perform(
      terminal,
      options,
      (api) => api.call('GET', `/plans/${part(plan)}`),
      (found, colour) => card(found as Plan, colour),
    ),
  );

  for (const [name, description, method, end] of [
    ['try', 'tell what a plan would change, without changing it', 'POST', '/try'],
    ['put', 'write a plan into the plans file and put it in force', 'PUT', ''],
  ] as const) {
    const command = plans
      .command(name)
      .description(description)
      .argument('<plan>', 'name of the plan, known or new')
      .option('--limits <limits>', 'such as 60/minute,1000/day; windows that are not named stay')
      .option('--drop <window>', 'window to take away, such as day; may be repeated', several)
      .option('--custom', 'no limits: each key or account has its own')
      .addOption(new Option('--count <who>', 'who is counted').choices(['key', 'account']));
    (name === 'put' ? changingCommand : operatorCommand)(
      command,
      `plans ${name} free --limits 30/minute`,
      `plans ${name} free --limits 30/minute --drop day`,
    ).action((plan: string, { limits, custom, drop, count, ...options }: Common & Changes) => {
      const named = [limits ?? drop, custom].filter((value) => value !== undefined);
      if (named.length !== 1 && !(named.length === 0 && count !== undefined)) {
        command.error('error: say either --limits or --custom; --drop takes a window away', { exitCode: 2 });
      }
      return perform(
        terminal,
        options,
        (api) =>
          api.call(method, `/plans/${part(plan)}${end}`, { body: { limits: custom ? null : limits, drop, count } }),
        (trial, colour) => showTrial(trial as Trial, colour),
      );
    });
  }
  return plans;
}

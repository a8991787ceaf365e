import type { Command } from 'commander';

/** Commander's own `help` reads the first word only. */
export function addHelp(program: Command): void {
  program
    .command('help [command...]')
    .description('show help for a command')
    .action((names: string[]) => {
      let found = program;
      for (const name of names) {
        const inner = found.commands.find((command) => command.name() === name);
        if (!inner) return found.error(`error: unknown command ${JSON.stringify(name)}`, { exitCode: 2 });
        found = inner;
      }
      found.help();
    });
}

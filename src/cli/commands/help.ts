import { Command } from 'commander';

/** Shows the help of a command at any depth; commander's own `help` looks at the first word alone. */
export function helpCommand(program: Command): Command {
  return new Command('help')
    .description('show the help of a command')
    .argument('[command...]', 'such as keys create')
    .action((names: string[]) => {
      let found = program;
      for (const name of names) {
        const inner = found.commands.find((command) => command.name() === name);
        if (!inner) return found.error(`error: there is no command ${JSON.stringify(name)} here`, { exitCode: 2 });
        found = inner;
      }
      found.help();
    });
}

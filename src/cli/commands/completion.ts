import { Argument, Command } from 'commander';
import type { Terminal } from '../terminal.ts';

/** Adds a command that writes a shell's completion script for all commands of `program`. */
export function completionCommand(program: Command, terminal: Terminal): Command {
  return new Command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'which one').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      '\nExamples:\n  $ source <(storegate completion bash)\n  $ storegate completion fish | source',
    )
    .action((shell: string) => {
      const script = shell === 'fish' ? fish(program) : bash(program);
      terminal.out(shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${script}` : script);
    });
}

/** Every command by its path, such as ` keys create`, with the words that may follow it. */
function wordsByPath(command: Command, path = ''): [path: string, words: string[]][] {
  const words = [...command.commands.map((sub) => sub.name()), ...command.options.map(({ long }) => long!), '--help'];
  return [[path, words], ...command.commands.flatMap((sub) => wordsByPath(sub, `${path} ${sub.name()}`))];
}

function bash(program: Command): string {
  const all = wordsByPath(program);
  const paths = all.map(([path]) => `"${path}"`).slice(1);
  return `_storegate() {
  local path="" word current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in ${paths.join('|')}) path="$path $word" ;; esac
  done
  case "$path" in
${all.map(([path, words]) => `    "${path}") COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$current")) ;;`).join('\n')}
  esac
}
complete -o default -F _storegate storegate
`;
}

function fish(program: Command): string {
  const lines = program.commands.flatMap((group) => [
    `complete -c storegate -n __fish_use_subcommand -f -a ${group.name()} -d '${group.description()}'`,
    ...group.commands.map(
      (sub) =>
        `complete -c storegate -n '__fish_seen_subcommand_from ${group.name()}' -f -a ${sub.name()} -d '${sub.description()}'`,
    ),
  ]);
  return `${lines.join('\n')}\n`;
}

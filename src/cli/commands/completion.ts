import { Argument, type Command } from 'commander';
import { command } from '../command.ts';

export const completionCommand = command(
  'completion',
  'print a shell completion script',
  {
    input: new Argument('<shell>').choices(['bash', 'zsh', 'fish']),
    examples: ['completion fish | source'],
    async run({ out }, _options, [shell], { parent }) {
      const script = shell === 'fish' ? fish(parent!) : bash(parent!);
      out(
        shell === 'zsh'
          ? `autoload -U +X bashcompinit && bashcompinit\n${script}`
          : script,
      );
    },
  },
);

/** By path, such as ` keys create`. */
function wordsByPath(
  command: Command,
  path = '',
): [path: string, words: string[]][] {
  const words = [
    ...command.commands.map((sub) => sub.name()),
    ...command.options.map(({ long }) => long!),
  ];
  return [
    [path, words],
    ...command.commands.flatMap((sub) =>
      wordsByPath(sub, `${path} ${sub.name()}`),
    ),
  ];
}

function bash(program: Command): string {
  const [[, first], ...all] = wordsByPath(program) as [
    [string, string[]],
    ...[string, string[]][],
  ];
  const global = [
    '--help',
    ...first.filter((word) => word.startsWith('--')),
  ].join(' ');
  const cases = [
    ['', first.filter((word) => !word.startsWith('--'))] as const,
    ...all,
  ];
  return `_storegate() {
  local path="" word words current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in ${all.map(([path]) => `"${path}"`).join('|')}) path="$path $word" ;; esac
  done
  case "$path" in
${cases.map(([path, words]) => `    "${path}") words="${words.join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words ${global}" -- "$current"))
}
complete -o default -F _storegate storegate
`;
}

function fish(program: Command): string {
  const line = (condition: string, command: Command) =>
    `complete -c storegate -n '${condition}' -f -a ${command.name()} -d '${command.description()}'`;
  const lines = program.commands.flatMap((group) => [
    line('__fish_use_subcommand', group),
    ...group.commands.map((inner) =>
      line(`__fish_seen_subcommand_from ${group.name()}`, inner),
    ),
  ]);
  return `${lines.join('\n')}\n`;
}

import type { Argument, Command } from 'commander';
import { DETAILS, describe } from './command.ts';
import { createProgram, EXIT_CODES } from './run.ts';

export function cliReference(): string {
  const silent = () => {};
  const program = createProgram({
    env: {},
    cwd: '.',
    out: silent,
    err: silent,
    input: async () => '',
    isTerminal: false,
    errIsTerminal: false,
    onHangup: () => silent,
    unread: new AbortController().signal,
    stop: new AbortController().signal,
  });
  return `# Command line

Run \`npx storegate <command>\` in the project; the image has \`storegate\` as its entry point. \`npm run docs\` writes this page.

Commands work on the gateway of \`--url\`, \`STOREGATE_ADMIN_URL\` or a profile. Without these they ask the
gateway that runs on the data folder, and without one they work on the configured state. The running gateway does not use the files:
a mistake in them is printed to stderr, and the command succeeds. \`init\`, \`serve\`, \`check\`, \`store\` and \`state\` ask no gateway. A profile is a
YAML file with \`url\`, and optionally \`token\`, \`ca\`, \`cert\` and \`key\`; with a token only its owner may read it.

An unknown plan, scope, operation, action or error code in a filter is refused with the known names.

## Global options

${optionsOf(program)}

Exit codes:

${EXIT_CODES.map((line) => `- ${line.replace(/^(\d) +/, '`$1`: ')}`).join('\n')}

${program.commands.flatMap((command) => sections(command, 'storegate')).join('\n\n')}
`;
}

function sections(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  const { details, example } = DETAILS.get(command) ?? {};
  const isGroup = command.commands.length > 0;
  const inputs = command.registeredArguments.map(argumentOf).join('');
  const about = command.description();
  const parts = [
    `## ${name}`,
    inputs === ''
      ? `${about[0]!.toUpperCase()}${about.slice(1)}.`
      : `\`${name}${inputs}\`: ${about}.`,
    ...(details === undefined ? [] : [details]),
    ...(command.options.length === 0 ? [] : [optionsOf(command)]),
    ...(isGroup || example === undefined
      ? []
      : [`\`\`\`sh\nstoregate ${example}\n\`\`\``]),
  ];
  return [
    parts.join('\n\n'),
    ...command.commands.flatMap((inner) => sections(inner, name)),
  ];
}

function argumentOf(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? ` <${name}>` : ` [${name}]`;
}

const optionsOf = ({ options }: Command): string =>
  options
    .map((option) => `- \`${option.flags}\`: ${describe(option)}`)
    .join('\n');

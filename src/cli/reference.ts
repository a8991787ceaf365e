import type { Command } from 'commander';
import { createProgram } from './program.ts';

/** The text of docs/cli.md: every command with the help that the command line prints. */
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
  return `# The command line

\`npx storegate …\` in the project; the image's entry point. This page is what \`--help\` says, written by \`npm run docs\`.

Commands of operators work on a running gateway that \`--url\`, \`STOREGATE_ADMIN_URL\` or a profile names; without any of them
on the state that the configuration names, with or without a gateway running. Only counters and bans of an embedded gateway
that runs are its own: commands that need them find it through its folder. A profile is a YAML file with \`url\`, and
perhaps \`token\`, \`ca\`, \`cert\` and \`key\`, which nobody else can read.

${sections(program, '').join('\n')}`;
}

function sections(command: Command, path: string): string[] {
  const name = `${path} ${command.name()}`.trim();
  const own = `## ${name}\n\n\`\`\`\n${helpOf(command)}\n\`\`\`\n`;
  return [own, ...command.commands.flatMap((inner) => sections(inner, name))];
}

/** The help with the text added after it, which commander writes but does not return. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text.trimEnd();
}

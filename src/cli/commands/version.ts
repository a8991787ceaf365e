import type { Command } from 'commander';
import { readVersion } from '../../common/version.ts';
import { addCommand, optionsOf } from '../command.ts';
import { print } from '../output.ts';
import type { Terminal } from '../terminal.ts';

export function addVersion(program: Command, terminal: Terminal): void {
  addCommand(program, 'version', { about: 'print the version', examples: ['version --json'] }).action(
    async (...given) => {
      const versions = { version: readVersion(), node: process.version };
      await print(terminal, optionsOf(given), versions, { text: ({ version }) => `${version}\n` });
    },
  );
}

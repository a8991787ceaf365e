import type { Command } from 'commander';
import type { Terminal } from '../terminal.ts';

export function addServe(program: Command, terminal: Terminal): void {
  program
    .command('serve')
    .description('run the gateway, and the store beside it unless STORE_URL names one elsewhere')
    .option('--no-demo-keys', 'on the first start in a terminal, do not make and show a key per plan')
    .addHelpText(
      'after',
      '\nReads plans, settings and contract again when they change, and on SIGHUP.\n\nExamples:\n' +
        '  $ storegate serve\n  $ STORE_URL=http://127.0.0.1:8081 storegate serve --no-demo-keys',
    )
    .action(async (options: { demoKeys: boolean }) => {
      const { serve } = await import('../serve.ts');
      await serve(terminal, options);
    });
}

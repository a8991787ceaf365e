import { readVersion } from '../../common/version.ts';
import { command, option } from '../command.ts';
import type { InitOptions } from '../init.ts';
import { type OutputOptions, print } from '../output.ts';
import type { ServeOptions } from '../serve.ts';

// Commands that need no gateway. Each loads its modules when it runs.

export const initCommand = command('init', 'protect an API: write settings and plans, make a key, run the gateway', {
  options: [
    option('--backend <url>', 'URL of the API, such as http://127.0.0.1:3000'),
    option('--contract <place>', 'OpenAPI document, a file or URL; none: requests are not validated'),
    option('--directory <folder>', 'folder for gateway.yaml, plans.yaml and data (default: this one)'),
    option('--yes', 'ask nothing'),
    option('--no-start', 'do not run the gateway'),
  ],
  details: 'Asks for the backend and the contract on a terminal. Never overwrites a file.',
  examples: ['init --backend http://127.0.0.1:3000 --contract ./openapi.yaml'],
  async run(terminal, options: InitOptions) {
    const { init } = await import('../init.ts');
    await init(terminal, options);
  },
});

export const serveCommand = command('serve', 'run the gateway, and a demo store unless STORE_URL is set', {
  options: [option('--no-demo-keys', 'create no demo keys on the first start in a terminal')],
  details: 'The gateway reloads plans, settings and contract when the files change, and on SIGHUP.',
  async run(terminal, options: ServeOptions) {
    const { serve } = await import('../serve.ts');
    await serve(terminal, options);
  },
});

export const checkCommand = command('check', 'check settings, plans and contract', {
  details: 'Exit code 1: the files have mistakes. Each is printed with file, line and column.',
  examples: ['check && systemctl reload storegate'],
  async run(terminal, options) {
    const { check } = await import('../check.ts');
    await check(terminal, options);
  },
});

export const versionCommand = command('version', 'print the version', {
  examples: ['version --json'],
  async run(terminal, options: OutputOptions) {
    const versions = { version: readVersion(), node: process.version };
    await print(terminal, options, versions, { text: ({ version }) => `${version}\n` });
  },
});

import { command, lazily, option } from '../command.ts';

// Commands that need no gateway.

export const initCommand = command(
  'init',
  'protect an API: write settings and plans, make a key, run the gateway',
  {
    options: [
      option(
        '--backend <url>',
        'URL of the API, such as http://127.0.0.1:3000',
      ),
      option(
        '--contract <place>',
        'OpenAPI document, a file or URL; none: requests are not validated',
      ),
      option(
        '--requests <treatment>',
        'requests that violate the contract',
      ).choices(['enforce', 'report']),
      option(
        '--directory <folder>',
        'folder for gateway.yaml, plans.yaml and data (default: this one)',
      ),
      option(
        '--add',
        'add the API to an existing gateway.yaml, at --path or --host',
      ),
      option('--name <name>', 'name of the added API, such as billing'),
      option('--path <path>', 'where its paths begin, such as /billing'),
      option('--host <host>', 'its host, such as billing.example.com'),
      option('--yes', 'ask nothing'),
      option('--no-start', 'do not run the gateway'),
    ],
    details:
      'Asks on a terminal for what is left out. Overwrites no file; --add checks everything, then replaces gateway.yaml, with its comments.',
    examples: [
      'init --backend http://127.0.0.1:3000 --contract ./openapi.yaml',
      'init --add --name billing --path /billing --backend http://127.0.0.1:3002 --contract ./billing.yaml',
    ],
    run: lazily(async () => (await import('../init.ts')).init),
  },
);

export const serveCommand = command(
  'serve',
  'run the gateway, and a demo store unless a backend is set (BACKEND_URL, upstream.url)',
  {
    options: [
      option(
        '--no-demo-keys',
        'create no demo keys on the first start in a terminal',
      ),
    ],
    details: 'Reloads changed files within three seconds, and on SIGHUP.',
    run: lazily(async () => (await import('../serve.ts')).serve),
  },
);

export const checkCommand = command(
  'check',
  'check settings, plans, contract and Redis',
  {
    details:
      'Exit code 1: the files have mistakes, each printed with file, line and column; or Redis refuses, e.g. the password. An unreachable Redis, plans of keys that the files lack and a data folder that is not writable are notes.',
    examples: ['check && systemctl reload storegate'],
    run: lazily(async () => (await import('../check.ts')).check),
  },
);

import type { Request } from '../../../src/run/contracts/loader.ts';

const OF_THE_API = {
  name: 'default',
  host: null,
  path: '/',
  stripPath: null,
  isAlone: true,
  usage: { enabled: true },
  keys: { headers: null },
  plans: {},
  operations: {},
} as const;

/** Of one API alone. `data`: where a contract at a URL has its copy. */
export const orderOf = (
  file: string,
  data: string,
  reading: { readonly onUnsupported?: 'report' } = {},
) =>
  ({
    ...OF_THE_API,
    contract: { file, afterSunset: 'serve', requests: 'enforce', ...reading },
    data,
  }) satisfies Request;

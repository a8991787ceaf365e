import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminApi } from './docs/admin-api.ts';
import { cliReference } from './docs/command-line.ts';
import { configuration } from './docs/configuration.ts';
import { dashboard } from './docs/dashboard.ts';
import { withDeafClients } from './docs/deaf-clients.ts';
import { errorCodes } from './docs/error-codes.ts';
import { withFigures } from './docs/figures.ts';
import { logEvents } from './docs/log-events.ts';
import { metrics } from './docs/metrics.ts';
import { webhooks } from './docs/webhooks.ts';

/** The text that each page should have. Some pages keep what they have around their figures. */
export const PAGES: Readonly<Record<string, (text: string) => string>> = {
  'README.md': (text) => withFigures(text),
  'bench/RESULTS.md': (text) => withFigures(text),
  'docs/admin-api.md': adminApi,
  'docs/cli.md': cliReference,
  'docs/configuration.md': configuration,
  'docs/dashboard.md': dashboard,
  'docs/errors.md': errorCodes,
  'docs/limits-and-bans.md': withDeafClients,
  'docs/log-events.md': logEvents,
  'docs/metrics.md': metrics,
  'docs/performance.md': (text) => withFigures(text),
  'docs/scaling.md': (text) => withFigures(text),
  'docs/webhooks.md': webhooks,
};

if (import.meta.main)
  for (const [page, text] of Object.entries(PAGES)) {
    const file = join(import.meta.dirname, '..', page);
    writeFileSync(file, text(readFileSync(file, 'utf8')));
  }

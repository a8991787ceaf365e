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
import { type Files, writeFiles } from './files.ts';

export const PAGES: Files = {
  'README.md': withFigures,
  'bench/RESULTS.md': withFigures,
  'docs/admin-api.md': adminApi,
  'docs/cli.md': cliReference,
  'docs/configuration.md': configuration,
  'docs/dashboard.md': dashboard,
  'docs/errors.md': errorCodes,
  'docs/limits-and-bans.md': withDeafClients,
  'docs/log-events.md': logEvents,
  'docs/metrics.md': metrics,
  'docs/performance.md': withFigures,
  'docs/scaling.md': withFigures,
  'docs/webhooks.md': webhooks,
};

if (import.meta.main) writeFiles(PAGES);

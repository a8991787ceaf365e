import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminApi } from './docs/admin-api.ts';
import { cliReference } from './docs/command-line.ts';
import { configuration } from './docs/configuration.ts';
import { dashboard } from './docs/dashboard.ts';
import { errorCodes } from './docs/error-codes.ts';
import { FIGURES, withFigures } from './docs/figures.ts';
import { logEvents } from './docs/log-events.ts';
import { metrics } from './docs/metrics.ts';
import { webhooks } from './docs/webhooks.ts';

/** Writes the pages and blocks that the code generates. A test fails while they differ. */
const root = join(import.meta.dirname, '..');
const docs = join(root, 'docs');
writeFileSync(join(docs, 'admin-api.md'), adminApi());
writeFileSync(join(docs, 'cli.md'), cliReference());
writeFileSync(join(docs, 'configuration.md'), configuration());
writeFileSync(join(docs, 'dashboard.md'), dashboard());
writeFileSync(join(docs, 'errors.md'), errorCodes());
writeFileSync(join(docs, 'log-events.md'), logEvents());
writeFileSync(join(docs, 'metrics.md'), metrics());
writeFileSync(join(docs, 'webhooks.md'), webhooks());
for (const file of Object.keys(FIGURES)) writeFileSync(join(root, file), withFigures(file));

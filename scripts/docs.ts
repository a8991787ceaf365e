import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliReference } from '../src/cli/reference.ts';
import { configuration } from './docs/configuration.ts';
import { errorCodes } from './docs/error-codes.ts';
import { metrics } from './docs/metrics.ts';
import { webhooks } from './docs/webhooks.ts';

/** Writes the pages that the code generates. A test fails while they differ. */
const docs = join(import.meta.dirname, '../docs');
writeFileSync(join(docs, 'cli.md'), cliReference());
writeFileSync(join(docs, 'configuration.md'), configuration());
writeFileSync(join(docs, 'errors.md'), errorCodes());
writeFileSync(join(docs, 'metrics.md'), metrics());
writeFileSync(join(docs, 'webhooks.md'), webhooks());

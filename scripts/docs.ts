import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodes } from '../packages/reference/src/error-codes.ts';
import { webhookEvents } from '../packages/reference/src/webhook-events.ts';
import { cliReference } from '../src/cli/reference.ts';

/** Writes the pages that the code generates. A test fails while they differ. */
const docs = join(import.meta.dirname, '../docs');
writeFileSync(join(docs, 'errors.md'), errorCodes());
writeFileSync(join(docs, 'cli.md'), cliReference());
writeFileSync(join(docs, 'webhook-events.md'), webhookEvents());

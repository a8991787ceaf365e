/**
 * What admissions cost, and what many keys in Redis cost and how soon gateways have them:
 *
 *     node --disable-warning=ExperimentalWarning bench/redis.ts cost
 *     node --disable-warning=ExperimentalWarning bench/redis.ts records --keys 1000000
 *
 * `--before` measures a commit of records, too.
 */
import { readOptions } from './options.ts';
import { cost } from './redis/cost.ts';
import { records } from './redis/records.ts';

const [what, ...args] = process.argv.slice(2);
const { keys, before } = readOptions({ before: null, keys: 1_000_000 }, args);
if (what === 'cost') await cost(keys);
else await records(keys, before);

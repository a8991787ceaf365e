/**
 * What admissions cost, and what many keys in Redis cost and how soon gateways have them:
 *
 *     node --disable-warning=ExperimentalWarning --expose-gc bench/redis.ts cost
 *     node --disable-warning=ExperimentalWarning bench/redis.ts records --keys 1000000
 *
 * `--before` measures a commit of records, too.
 */
import { parseArgs } from 'node:util';
import { cost } from './redis/cost.ts';
import { records } from './redis/records.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { before: { type: 'string' }, keys: { type: 'string', default: '1000000' } },
});
if (positionals[0] === 'cost') await cost(Number(values.keys));
else await records(Number(values.keys), values.before);

/**
 * Whether the gateway takes the examples of request bodies that documents have themselves: prints how many are refused. One command:
 *
 *     node --disable-warning=ExperimentalWarning bench/examples.ts /tmp/documents
 *
 * `--only github` takes one document, and `--show` prints refused examples, which may be wrong by their own schemas. Documents with
 * mistakes are loaded without the operations that have them.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ContractError, loadContract } from '../packages/openapi/src/contract.ts';
import { OpenApi } from './generated/document.ts';
import { examplesOf } from './generated/examples.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, show: { type: 'boolean' } },
});
const [folder] = positionals;
if (folder === undefined) throw new Error('name a folder of OpenAPI documents');

console.log('| document | examples | refused |');
console.log('|---|--:|--:|');
for (const name of readdirSync(folder).sort()) {
  if (!/\.(json|ya?ml)$/.test(name) || !name.includes(options.only ?? '')) continue;
  const file = join(folder, name);
  try {
    const contract = loadContract(file, { leniency: 'omit', responses: 'off' });
    const all = [...examplesOf(new OpenApi(file), contract)];
    const refused = all.filter(({ faults }) => faults.length > 0);
    console.log(`| ${name} | ${all.length} | ${refused.length} |`);
    if (options.show)
      for (const { operation, name, faults } of refused) console.error(operation, name, faults.join(', '));
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    console.log(`| ${name} | does not load | – |`);
  }
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import openapiTypescript, { astToString } from 'openapi-typescript';

/** Writes clients for `api.json` and `admin.json` of a folder beside them. */
const [folder = '.'] = process.argv.slice(2);
for (const name of ['api', 'admin']) {
  const input = join(folder, `${name}.json`);
  const types = astToString(await openapiTypescript(pathToFileURL(input)));
  writeFileSync(join(folder, `${name}.d.ts`), types);
  await createClient({
    input,
    output: { path: join(folder, name), module: { extension: '.ts' } },
    logs: { level: 'silent', file: false },
  });
}

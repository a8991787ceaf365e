import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const CONTRACT = join(import.meta.dirname, 'contract');

/** The OpenAPI document of the admin API. */
export const ADMIN_CONTRACT = join(CONTRACT, 'admin.openapi.yaml');

/** The JSON Schema of the events that webhooks send. The document refers to it beside it. */
export const WEBHOOK_SCHEMA = join(CONTRACT, 'webhooks.schema.json');

const NOT_FOR_BROWSERS = /^(files|generated.types)\.ts$/;

/** Modules that browsers load: name, such as `text/index.ts`, and path. */
export function browserModules(): (readonly [name: string, path: string])[] {
  return readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !NOT_FOR_BROWSERS.test(name))
    .map(
      (name) =>
        [name.replaceAll('\\', '/'), join(import.meta.dirname, name)] as const,
    );
}

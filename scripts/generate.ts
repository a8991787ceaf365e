import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminOperations, adminTypes } from './admin-types.ts';
import { configType } from './config-type.ts';
import { writeSnapshot } from './formats.ts';
import { prometheusRule } from './prometheus-rule.ts';
import { settingsFile } from './settings-file.ts';

const root = join(import.meta.dirname, '..');
const ADMIN_API = join(root, 'packages/admin-api/src/generated');
const SETTINGS = join(root, 'src/config/config.generated.ts');
const SETTINGS_FILE = join(root, 'config/gateway.yaml');
const RULE = join(root, 'deploy/kubernetes/monitoring/prometheus-rule.yaml');

if (import.meta.main) {
  writeFileSync(join(ADMIN_API, 'types.ts'), adminTypes());
  writeFileSync(join(ADMIN_API, 'operations.ts'), adminOperations());
  writeFileSync(SETTINGS, configType());
  writeFileSync(SETTINGS_FILE, settingsFile());
  writeFileSync(RULE, prometheusRule());
  writeSnapshot(process.argv.includes('--breaking'));
}

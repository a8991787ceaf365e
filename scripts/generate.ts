import { adminOperations, adminTypes } from './admin-types.ts';
import { configType } from './config-type.ts';
import { writeFiles } from './files.ts';
import { snapshot } from './formats.ts';
import { prometheusRule } from './prometheus-rule.ts';
import { settingsFile } from './settings-file.ts';

writeFiles({
  'packages/admin-api/src/generated/types.ts': adminTypes,
  'packages/admin-api/src/generated/operations.ts': adminOperations,
  'src/config/config.generated.ts': configType,
  'config/gateway.yaml': settingsFile,
  'deploy/kubernetes/monitoring/prometheus-rule.yaml': prometheusRule,
  'test/release/formats.txt': (text) => snapshot(text, process.argv.includes('--breaking')),
});

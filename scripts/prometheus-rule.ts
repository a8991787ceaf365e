import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const HEAD = `# Written by \`npm run generate\` from deploy/rules.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: storegate
  labels: { app.kubernetes.io/name: storegate }
spec:
  groups:
`;

/**
 * The Prometheus operator reads rules in an object of its own; kustomize cannot put a file into
 * one.
 */
export function prometheusRule(): string {
  return HEAD + ['recording', 'alerts'].map((name) => groupsIn(`${name}.yml`)).join('\n');
}

function groupsIn(file: string): string {
  const [, groups] = readFileSync(join(import.meta.dirname, '../deploy/rules', file), 'utf8').split(
    /^groups:\n/m,
  );
  if (groups === undefined) throw new Error(`${file} has no groups`);
  return groups.replace(/^(?=.)/gm, '  ');
}

import { expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/load.ts';
import { digestsOf } from '../../src/run/status.ts';

const settingsWith = (env: Record<string, string>) =>
  digestsOf({
    config: loadConfig({ env, cwd: import.meta.dirname }),
    contract: { fingerprint: 'x' },
  } as never).settings;

test.each([
  ['listen on other ports', { STOREGATE_PORT: '81' }, true],
  ['name their machine in their spans', { OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=one' }, true],
  [
    'send their spans elsewhere',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:1', OTEL_SERVICE_NAME: 'a' },
    true,
  ],
  ['have spans of other requests', { OTEL_TRACES_SAMPLER_ARG: '0.5' }, false],
  ['ask another backend', { BACKEND_URL: 'http://a:1' }, false],
] as const)('gateways that %s have the same digest of settings: %s', (_what, env, same) => {
  expect(settingsWith(env as Record<string, string>) === settingsWith({})).toBe(same);
});

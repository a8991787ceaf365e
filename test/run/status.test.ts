import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/load.ts';
import { digestsOf, gatewayConditions } from '../../src/run/status.ts';

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

describe('a gateway reports', () => {
  const DAY = 86_400_000;
  const now = 100 * DAY;
  const term = (from: number, to: number, setting = 'listen.tls') => ({
    setting,
    file: 'it.crt',
    notBefore: now + from * DAY,
    notAfter: now + to * DAY,
  });
  const reportOf = (changes: {
    terms?: readonly ReturnType<typeof term>[];
    copy?: { at: number; reason: string };
    waiting?: readonly string[];
    problems?: readonly string[];
    cacheAge?: number;
  }) => {
    const { terms = [], copy, waiting = [], problems = [], cacheAge = 0 } = changes;
    const last = { at: now - 1, reason: 'SIGHUP', problems };
    const current = { certificates: { terms }, apis: [{ copy }] };
    return gatewayConditions({ current, waiting, last } as never, { now, cacheAge }).map(
      ({ type, since, detail }) => [type, since === null ? null : (since - now) / DAY, detail],
    );
  };

  test.each([
    ['nothing if a certificate holds for 7 days', term(-1, 7), []],
    [
      'a certificate that ends tomorrow',
      term(-1, 1),
      ['certificate_expires', -6, 'the certificate in it.crt ends on 1970-04-12'],
    ],
    [
      'an expired certificate of the public listener',
      term(-9, -1),
      ['listener_certificate', -1, 'the certificate in it.crt has ended on 1970-04-10'],
    ],
    [
      'a certificate of the public listener that does not hold yet',
      term(1, 90),
      ['listener_certificate', null, 'the certificate in it.crt holds only from 1970-04-12 on'],
    ],
    [
      'another expired certificate',
      term(-9, -1, 'admin.tls'),
      ['certificate_expired', -1, 'the certificate in it.crt has ended on 1970-04-10'],
    ],
  ])('%s', (_what, one, condition) => {
    expect(reportOf({ terms: [one] })).toEqual(condition.length === 0 ? [] : [condition]);
  });

  test('a refused reload, a copy of the contract, an old key cache, and a pending restart', () => {
    const copy = { at: now - DAY, reason: 'cannot be fetched' };
    const problems = ['a.yaml:1:1: no', 'b.yaml:2:2: no'];
    expect(reportOf({ copy, problems, waiting: ['listen.port'], cacheAge: DAY })).toEqual([
      ['reload_refused', -1 / DAY, 'a.yaml:1:1: no; b.yaml:2:2: no'],
      ['contract_copy', -1, 'cannot be fetched'],
      ['key_cache_old', -1, ''],
      ['restart_pending', null, 'listen.port'],
    ]);
    expect(reportOf({})).toEqual([]);
  });
});

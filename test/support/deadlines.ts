import { parse, stringify } from 'yaml';
import { deepFreeze } from '../../src/common/freeze.ts';
import type { Config } from '../../src/config/config.ts';
import { remember, settingsBehind } from '../../src/config/describe.ts';
import { putAt, settingValue, valueAt } from '../../src/config/settings.ts';

const LONG = 60_000;

/** Deadlines of every gateway in tests, except those that a test sets. */
const PATIENT: readonly (readonly [setting: string, value: number, written: string | number])[] = [
  ...[
    'redis.deadline',
    'upstream.connectTimeout',
    'upstream.headersTimeout',
    'upstream.bodyTimeout',
    'http.headersTimeout',
    'http.requestTimeout',
    'http.responseWriteTimeout',
    'http.drainTimeout',
    'webhooks.timeout',
  ].map((setting) => [setting, LONG, `${LONG}ms`] as const),
  ['http.minBodyRate', 0, 0],
];

export function patientText(text: string): string {
  const document = (parse(text) ?? {}) as Record<string, unknown>;
  for (const [setting, , written] of PATIENT)
    if (valueAt(document, setting) === undefined) putAt(document, setting, written);
  return stringify(document);
}

/** The configuration with these deadlines as defaults. Its description shows none of them. */
export function patientConfig(config: Config): Config {
  const settings = settingsBehind(config);
  const added = PATIENT.filter(([setting]) => settings.get(setting)?.origin.kind === 'default');
  const addedTo = (section: 'redis' | 'upstream' | 'http' | 'webhooks', own: object = {}) =>
    Object.fromEntries(
      added
        .map(([setting, value]) => [setting.split('.'), value] as const)
        .filter(([[first, key]]) => first === section && !Object.hasOwn(own, key!))
        .map(([[, key], value]) => [key, value]),
    );
  const own = settingValue<Record<string, object> | null>(settings, 'upstreams');
  const patient = deepFreeze({
    ...config,
    redis: config.redis && { ...config.redis, ...addedTo('redis') },
    upstream: { ...config.upstream, ...addedTo('upstream') },
    upstreams: Object.fromEntries(
      Object.entries(config.upstreams).map(([name, one]) => [
        name,
        { ...one, ...addedTo('upstream', own?.[name]) },
      ]),
    ),
    http: { ...config.http, ...addedTo('http') },
    webhooks: { ...config.webhooks, ...addedTo('webhooks') },
  });
  remember(patient, settings);
  return patient;
}

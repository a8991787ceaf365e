import { describe, expect, test } from '@jest/globals';
import type { Config } from '../../src/config/config.ts';
import {
  describeConfig,
  remember,
  settingsBehind,
  withBackend,
} from '../../src/config/describe.ts';
import { differences, inForce, keepsValue, needsRestart } from '../../src/config/restart.ts';
import { settingsOf } from '../../src/config/settings.ts';
import { folderWith } from './folder.ts';
import { loadSettings, OTHER_FILES, OTHER_VALUES, SECRET } from './other-values.ts';

const settings = [...settingsOf('gateway')];
const REDIS = {
  'redis.url': 'redis://127.0.0.1',
  'upstream.url': 'http://one.example',
  'webhooks.secret': SECRET,
};
const folder = folderWith(OTHER_FILES);

const shown = (config: Config, name: string) =>
  describeConfig(config).find((one) => one.name === name)?.value;

let usual: Config | undefined;
const unchanged = () => (usual ??= loadSettings(folder, REDIS));

/** Settings that conflict with REDIS, with the settings to use instead. */
const BESIDE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'upstream.backends': {
    'upstream.url': null,
    'upstream.backends': [{ url: 'http://store.example' }],
  },
};

describe.each(settings)('%s', (name, schema) => {
  test('is documented to need a restart or not, by itself or by its section', () => {
    expect([true, false]).toContain(schema['x-restart']);
    expect(needsRestart(name)).toBe(schema['x-restart']);
  });

  test(`is in force after a reload ${schema['x-restart'] ? 'as it was' : 'at once'}`, () => {
    const base = { ...REDIS, ...BESIDE[name] };
    const [one, other] = [
      name in BESIDE ? loadSettings(folder, base) : unchanged(),
      loadSettings(folder, { ...base, [name]: OTHER_VALUES[name] }),
    ];
    expect(differences(one, other)).toEqual([name]);
    for (const [running, loaded] of [
      [one, other],
      [other, one],
    ] as const) {
      expect(loaded).not.toEqual(running);
      const config = inForce(running, loaded);
      expect(config).toEqual(schema['x-restart'] ? running : loaded);
      expect(shown(config, name)).toBe(shown(schema['x-restart'] ? running : loaded, name));
      expect(Object.isFrozen(config)).toBe(true);
    }
  });
});

describe('a reload keeps values from the start:', () => {
  test('the backend that was started with the gateway, while the file names none', () => {
    const cwd = folderWith();
    const running = withBackend(loadSettings(cwd, {}), 'http://127.0.0.1:4000');
    const config = inForce(
      running,
      loadSettings(cwd, { 'upstream.connections': 7, 'cors.maxAge': '1s' }),
    );
    expect(config.upstream).toEqual({ ...running.upstream, connections: 7 });
    expect(config.cors.maxAge).toBe(1000);
    expect(differences(running, config)).toEqual(['upstream.connections', 'cors.maxAge']);
    const { upstream } = inForce(
      running,
      loadSettings(cwd, { 'upstream.url': 'http://store.example' }),
    );
    expect(upstream.backends).toEqual([{ url: 'http://store.example', weight: 1 }]);
  });

  test('the backends in use, if the file names none after a change', () => {
    const cwd = folderWith();
    const [running, loaded] = [
      loadSettings(cwd, { 'upstream.url': 'http://store.example' }),
      loadSettings(cwd, {}),
    ];
    const config = inForce(running, loaded);
    expect(config.upstream.backends).toEqual([{ url: 'http://store.example', weight: 1 }]);
    expect(shown(config, 'upstream.url')).toBe('"http://store.example"');
    expect([keepsValue('upstream.url', loaded), keepsValue('upstream.url', running)]).toEqual([
      true,
      false,
    ]);
  });

  test('the number of workers, even if auto would now choose another', () => {
    const cwd = folderWith();
    const loaded = loadSettings(cwd, { ...REDIS, workers: 'auto' });
    const running = { ...loaded, workers: loaded.workers + 1 };
    remember(running, settingsBehind(loaded));
    expect(inForce(running, loadSettings(cwd, { workers: 'auto' })).workers).toBe(
      loaded.workers + 1,
    );
  });
});

test('applies those of many changes that need no restart', () => {
  const cwd = folderWith(OTHER_FILES);
  const running = loadSettings(cwd, {});
  const written = { ...OTHER_VALUES, ...REDIS, 'plans.file': null, 'upstream.backends': [] };
  const loaded = loadSettings(cwd, written);
  const config = inForce(running, loaded);
  const changed = settings.filter(([, schema]) => !schema['x-restart']).map(([name]) => name);
  expect(differences(running, config)).toEqual(
    changed.filter((name) => name !== 'plans.file' && name !== 'upstream.backends'),
  );
  expect(config.redis).toBeNull();
  expect(inForce(loaded, running).redis).toEqual(loaded.redis);
});

test('an unknown setting throws', () => {
  expect(() => needsRestart('http.colour')).toThrow('unknown setting http.colour');
});

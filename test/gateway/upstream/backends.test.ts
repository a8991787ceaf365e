import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { withBackend } from '../../../src/config/describe.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { createBackend } from '../../../src/gateway/upstream/backend.ts';
import { createUpstreams } from '../../../src/gateway/upstream/backends.ts';
import { until } from '../../support/until.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const isReleased = (one: WeakRef<object>) => one.deref() === undefined;

test('backends of earlier settings are released from memory', async () => {
  const config = loadConfig({ env: {}, cwd: import.meta.dirname });
  const settings = (port: number) => withBackend(config, `http://127.0.0.1:${port}`);
  const none = { upstream: null, upstreams: {} };
  const upstreams = createUpstreams(settings(1), none, () => {});
  const earlier: WeakRef<object>[] = [];
  for (let port = 2; port < 6; port++) {
    earlier.push(new WeakRef(upstreams.of('default').backends[0]!));
    upstreams.use(settings(port), none);
  }
  await until('all earlier backends are gone', () => {
    collect();
    return earlier.every(isReleased);
  });
  expect(upstreams.status).toHaveLength(1);
  upstreams.close();
});

test('a backend releases the settings and the client certificate of its start', async () => {
  const url = 'http://127.0.0.1:1';
  const inForce = () => {
    const config = loadConfig({ env: {}, cwd: import.meta.dirname });
    const { upstream: settings } = withBackend(config, url);
    return { address: { url, weight: 1 }, settings: { ...settings }, tls: {} };
  };
  const begin = () => {
    const first = inForce();
    const earlier = [new WeakRef(first.settings), new WeakRef(first.tls)];
    const others = { upstream: 'default', observe: () => {}, mayGo: () => true };
    return { earlier, backend: createBackend({ ...others, ...first }) };
  };
  const { earlier, backend } = begin();
  backend.use(inForce());
  await until('both are gone', () => {
    collect();
    return earlier.every(isReleased);
  });
  backend.close();
});

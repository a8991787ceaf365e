import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { withBackend } from '../../../src/config/describe.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { createUpstreams } from '../../../src/gateway/upstream/backends.ts';
import { until } from '../../support/until.ts';

test('backends of earlier settings are released from memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
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
    return earlier.every((one) => one.deref() === undefined);
  });
  expect(upstreams.status).toHaveLength(1);
  upstreams.close();
});

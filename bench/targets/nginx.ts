import { freePort } from '../../test/support/free-port.ts';
import { PROXY_PASS, startNginx, upstream } from '../nginx.ts';
import { nothingMissing, type Target } from './target.ts';

/** The unit: a bare proxy without keys, with an access log. */
export const nginx: Target = {
  name: 'nginx',
  title: 'nginx proxy_pass',
  works: ['get', 'get-varied', 'get-100k', 'get-10m', 'post', 'post-10k', 'post-1m'],
  counts: false,
  redis: false,
  missing: nothingMissing,
  async start({ children, backend, keys }) {
    const port = await freePort();
    const child = await startNginx(children, {
      name: 'nginx',
      port,
      log: true,
      http: upstream(backend.port),
      server: `location / { ${PROXY_PASS} }`,
    });
    return { url: `http://127.0.0.1:${port}`, keys, ...child };
  },
};

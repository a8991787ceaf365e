import { freePort } from '../../test/support/free-port.ts';
import { PROXY_PASS, startNginx, upstream } from '../nginx.ts';
import { nothingMissing, type Target } from './target.ts';

/** The unit for refusals. It admits one request a minute, its minimum. */
export const nginxLimit: Target = {
  name: 'nginx-limit',
  title: 'nginx limit_req',
  works: ['refused'],
  counts: false,
  redis: false,
  missing: nothingMissing,
  async start({ children, backend, keys }) {
    const port = await freePort();
    const child = await startNginx(children, {
      name: 'nginx-limit',
      port,
      log: true,
      http: `${upstream(backend.port)} limit_req_zone $http_x_api_key zone=keys:10m rate=1r/m;`,
      // At the shipped level each refusal has a line in the error log, too.
      server: `location / { limit_req zone=keys; limit_req_status 429; limit_req_log_level info; ${PROXY_PASS} }`,
    });
    return { url: `http://127.0.0.1:${port}`, keys, ...child };
  },
};

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import type { Children } from '../children.ts';
import type { PreparedGateway } from '../targets/storegate-process.ts';

/** Milliseconds between two health checks. */
export const CHECK = 250;

/** HAProxy without retries. */
export async function startBalancer(children: Children, gateways: readonly PreparedGateway[]) {
  const [port, stats] = [await freePort(), await freePort()];
  const file = join(children.folder, 'balancer.cfg');
  const servers = gateways.map(({ command, adminUrl }) => {
    const check = `check addr 127.0.0.1 port ${new URL(adminUrl).port}`;
    return `  server ${command.name} 127.0.0.1:${command.port} ${check}`;
  });
  const configuration = `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout http-keep-alive 60s
  # No request is sent a second time, and no connection tried a second time or elsewhere.
  retries 0
  retry-on none
  no option redispatch
frontend callers
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  balance roundrobin
  # Connections that were used before, also for the first request of a caller.
  http-reuse always
  option httpchk
  http-check send meth GET uri /health/ready ver HTTP/1.1 hdr Host localhost
  http-check expect status 200
  default-server inter ${CHECK}ms fall 2 rise 1
${servers.join('\n')}
frontend stats
  bind 127.0.0.1:${stats}
  stats enable
  stats uri /
`;
  writeFileSync(file, configuration);
  await children.start({
    name: 'balancer',
    file: 'haproxy',
    args: ['-db', '-f', file],
    port,
    place: 'beside',
  });
  return {
    port,
    async isUp({ command: { name } }: PreparedGateway): Promise<boolean> {
      const table = await (await fetch(`http://127.0.0.1:${stats}/;csv`)).text();
      return new RegExp(`^gateways,${name},.*,UP,`, 'm').test(table);
    },
  };
}

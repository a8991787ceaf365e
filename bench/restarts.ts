/**
 * Requests lost by rolling restarts of two gateways:
 *
 *     node --disable-warning=ExperimentalWarning bench/restarts.ts --requests 1000000 --restarts 20
 *
 * Each round restarts both with SIGTERM. HAProxy balances without retries. With `--direct`, clients open a connection per request,
 * alternate between the gateways regardless of readiness, and try the other only if the connection
 * is refused.
 */

import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Child } from './children.ts';
import { readOptions } from './options.ts';
import { CHECK, startBalancer } from './restarts/balancer.ts';
import { Clients } from './restarts/clients.ts';
import { withSurroundings } from './surroundings.ts';
import { type PreparedGateway, prepareStoregate } from './targets/storegate-process.ts';

const initial = { requests: 1_000_000, restarts: 20, direct: false };
const { requests, restarts, direct } = readOptions(initial);
const [CONNECTIONS, DELAY] = [64, '1s'];

interface Gateway extends PreparedGateway {
  child: Child;
}

await withSurroundings(
  async (surroundings) => {
    const { children } = surroundings;
    const options = { redis: true, settings: { http: { drainDelay: DELAY } } };
    const gateways: Gateway[] = [];
    for (const name of ['one', 'two']) {
      const prepared = await prepareStoregate(name, surroundings, options);
      gateways.push({ ...prepared, child: await children.start(prepared.command) });
    }
    const balancer = await startBalancer(children, gateways);
    for (const gateway of gateways) await until(() => balancer.isUp(gateway));
    let done = 0;
    const clients = new Clients({
      ports: direct ? gateways.map(({ command }) => command.port) : [balancer.port],
      connections: CONNECTIONS,
      requests,
      ended: () => done === restarts,
    });
    const started = performance.now();
    const running = clients.run();
    while (done < restarts) {
      await until(() => clients.sent >= (requests * done) / restarts);
      for (const gateway of gateways) {
        await gateway.child.stop();
        gateway.child = await children.start(gateway.command);
        await until(async () => (await balancer.isUp(gateway)) && (await isReady(gateway)));
      }
      done++;
      console.error(
        `${done} of ${restarts} rolling restarts: ${clients.sent} requests, ${clients.lostInAll} lost`,
      );
    }
    await running;
    printResult(clients, (performance.now() - started) / 1_000);
  },
  ['redis-server', 'haproxy'],
);

async function isReady({ adminUrl }: Gateway): Promise<boolean> {
  return (await fetch(`${adminUrl}/health/ready`)).status === 200;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(CHECK / 5);
}

function printResult(clients: Clients, seconds: number): void {
  const proxy = execFileSync('haproxy', ['-v'], { encoding: 'utf8' }).split('\n')[0];
  const path = direct
    ? `a new connection for each request, to the gateways in turn; ${clients.refused} connections refused`
    : `${proxy}, checks every ${CHECK} ms, retries 0, retry-on none, no redispatch, http-reuse always`;
  console.log(`${path}
${restarts} rolling restarts of two gateways, http.drainDelay ${DELAY}, ${CONNECTIONS} connections, ${seconds.toFixed(0)} s
${clients.sent} requests, ${clients.answered} answered 200, ${clients.lostInAll} lost`);
  for (const [outcome, count] of clients.lost) console.log(`  ${count} x ${outcome}`);
  if (clients.lostInAll > 0) process.exitCode = 1;
}

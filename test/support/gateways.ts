import { afterEach } from '@jest/globals';
import { send } from './client.ts';
import { type GatewayOptions, TestGateway } from './gateway.ts';

/** Starts gateways that are stopped after the test, the last one first, with what it put in `stops`. */
export function gatewaysOfTests(defaults: GatewayOptions = {}) {
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  async function gateway(options: GatewayOptions = {}): Promise<TestGateway> {
    const started = await TestGateway.start({ ...defaults, ...options });
    stops.push(() => started.stop());
    return started;
  }
  return { stops, gateway };
}

/** Sends requests one after the other, and returns their statuses. */
export async function sendWith(
  url: string,
  secret: string,
  times: number,
  path = '/pets',
): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < times; i++) {
    const { status } = await send(`${url}${path}`, { headers: { 'X-API-Key': secret } });
    statuses.push(status);
  }
  return statuses;
}

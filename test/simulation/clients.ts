import type { Answered, Gateway } from './gateway/gateway.ts';
import type { OperationName } from './gateway/operations.ts';
import type { Simulation } from './simulation.ts';

/** A key that an operator has created. */
export interface Key {
  readonly id: string;
  readonly secret: string;
  readonly account: string;
  readonly plan: string;
}

export interface Behaviour {
  readonly key: Key | null;
  readonly operation?: OperationName;
  readonly address?: string;
  /** Milliseconds from an answer, or the end of a wait, to the next request. */
  readonly pause: number;
  /** Milliseconds until the backend has responded. */
  readonly backend?: number;
  /** The gateway of the next request. */
  readonly gateway: () => Gateway;
  readonly answered?: (response: Answered) => void;
}

/** An operator creates a key through `gateway`. */
export async function createKey(
  simulation: Simulation,
  plan: string,
  account = 'acme',
): Promise<Key> {
  const { world, gateways } = simulation;
  const made = await world.settle(gateways[0]!.operate('createKey', { body: { account, plan } }));
  const { id, key } = made as { id: string; key: string };
  const created = { id, secret: key, account, plan };
  simulation.keys.push(created);
  return created;
}

export function send({
  key,
  operation = 'read',
  address = '192.0.2.1',
  backend = 5,
  answered,
  gateway,
}: Behaviour): Promise<Answered> {
  const sent = gateway().send({ operation, secret: key?.secret ?? null, address, backend });
  return sent.then((response) => {
    answered?.(response);
    return response;
  });
}

/**
 * A worker that waits exactly the Retry-After of its own last answer, until the true time `end`.
 */
export async function polite(
  { world }: Simulation,
  behaviour: Behaviour,
  end: number,
): Promise<void> {
  while (world.now < end) {
    const { retryAfter } = await send(behaviour);
    await world.sleep(retryAfter === null ? behaviour.pause : retryAfter * 1_000);
  }
}

/** A client that ignores every answer, and waits for none. */
export async function deaf(
  { world }: Simulation,
  behaviour: Behaviour,
  end: number,
): Promise<void> {
  while (world.now < end) {
    void send(behaviour);
    await world.sleep(behaviour.pause);
  }
}

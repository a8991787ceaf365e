import type { Exchange } from '../../src/gateway/exchange.ts';
import type { ApiParts, Front } from '../../src/gateway/pipeline.ts';
import type { Route, RouteMatch } from '../../src/gateway/routes.ts';
import { parseTarget } from '../../src/gateway/wire/target.ts';
import type { Limits } from '../../src/limits/limits.ts';
import type { Client } from '../../src/records/keys/key.ts';

/**
 * Mistakes in the order of the stages. Type check only: `npm run check` fails if one of them
 * compiles, because its `@ts-expect-error` is then unused.
 */
export async function mistakes(
  {
    guard,
    authenticate,
    admit,
    contract,
    forward,
    inspect,
    relay,
    usage,
    tunnel,
  }: ApiParts & Front,
  exchange: Exchange,
  match: RouteMatch,
  found: Client & { limits: Limits },
  route: Route,
): Promise<void> {
  const target = guard.enter(exchange);
  const client = await authenticate(exchange, target);
  if ('code' in client) return;
  const admitted = await admit(exchange, client, 1);
  if ('code' in admitted) return;
  const checked = await contract(exchange, admitted, target, match);
  const stored = await forward(exchange, checked);
  relay(exchange, await inspect(exchange, checked, stored));

  // @ts-expect-error authenticate before the guard: the exchange alone does not say that it was found well-formed
  void authenticate(exchange);
  // @ts-expect-error authenticate before the guard: a target that was parsed beside it
  void authenticate(exchange, parseTarget('/pets'));
  // @ts-expect-error a refusal taken for a client
  void admit(exchange, await authenticate(exchange, target), 1);
  // @ts-expect-error admission of a client that was found, but whose key was not judged
  void admit(exchange, found, 1);
  // @ts-expect-error a client that was admitted already is not charged again
  void admit(exchange, admitted, 1);
  // @ts-expect-error without admit, or with admit behind the contract
  void contract(exchange, client, target, match);
  // @ts-expect-error a copy of the target, with another path
  void contract(exchange, admitted, { ...target, path: '/other' }, match);
  // @ts-expect-error the contract before the guard
  void contract(exchange, admitted, parseTarget('/pets'), match);
  // @ts-expect-error a refusal of admission taken for an admission
  void contract(exchange, await admit(exchange, client, 1), target, match);
  // @ts-expect-error an unchecked object, though it has all that is needed
  void forward(exchange, { client: admitted, target, route, body: null });
  // @ts-expect-error a copy of what was checked, with another body
  void forward(exchange, { ...checked, body: Buffer.from('other') });
  // @ts-expect-error the backend's answer before there is one
  relay(exchange, forward(exchange, checked));
  // @ts-expect-error a WebSocket without admission
  void tunnel(exchange, { client, target, route, body: null });
  // @ts-expect-error /usage for a client that was found, but whose key was not judged
  void usage(exchange, found);
}

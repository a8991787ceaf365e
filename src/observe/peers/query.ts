import type { MaybePromise } from '../../common/maybe-promise.ts';

/** In the order of worker numbers. */
export interface Parts<Part> {
  readonly parts: readonly Part[];
  /** How many did not respond in time. */
  readonly missing: number;
}

/**
 * Every process that handles requests contributes a part: workers return theirs to the primary over
 * their channel. Arguments, parts and responses are JSON values, exchanged with gateways of other
 * versions too. A new question is a file here, an entry of `QUERIES`, and a finding in
 * `test/run/workers/same-responses.test.ts`. `ask` in `peers.ts` asks it.
 */
export interface PeerQuery<
  Name extends string,
  Argument,
  Process,
  Part,
  Gateway,
  Response,
> {
  readonly name: Name;
  readonly isArgument: (value: unknown) => value is Argument;
  /** The response to an invalid argument. */
  readonly otherwise: Response | null;
  readonly part: (process: Process, argument: Argument) => Part;
  readonly respond: (
    parts: Parts<Part>,
    argument: Argument,
    gateway: Gateway,
  ) => MaybePromise<Response | null>;
  /** Whether the response of a gateway, perhaps of another version, is valid. */
  readonly isResponse: (
    value: unknown,
    argument: Argument,
  ) => value is Response;
}

export const peerQuery = <
  const Name extends string,
  Argument,
  Process,
  Part,
  Gateway,
  Response,
>(
  value: PeerQuery<Name, Argument, Process, Part, Gateway, Response>,
) => value;

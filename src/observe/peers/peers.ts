import { hostname } from 'node:os';
import type { PeerQuery } from './query.ts';

/** Arguments and responses are JSON values; arguments come from outside. */
export interface Self {
  readonly name: string;
  /** `null`: unknown query. */
  readonly respond: (
    question: string,
    argument: unknown,
  ) => Promise<unknown> | null;
}

/** Milliseconds between two messages of a gateway that it is alive. */
export const ANNOUNCE_INTERVAL = 2_500;

export interface PeerResponses<Response> {
  /** This gateway's own response comes first. */
  readonly responses: readonly {
    readonly gateway: string;
    readonly response: Response;
  }[];
  /** Gateways that are alive but did not respond in time. */
  readonly unresponsive: readonly string[];
  /**
   * Gateways that disappeared in the last day without stopping. `at`: their last message, in Unix
   * milliseconds.
   */
  readonly lost: readonly { readonly gateway: string; readonly at: number }[];
  /** Why no other gateway could be queried, for operators; `null`: all were. */
  readonly isolated: string | null;
}

export interface Peers {
  /** Rejects only if this gateway's own response fails. */
  ask(question: string, argument: unknown): Promise<PeerResponses<unknown>>;
  /** Removes a lost gateway from the list. */
  forget(gateway: string): Promise<void>;
  close(): Promise<void>;
}

let named = 0;

export function gatewayName(): string {
  named++;
  // Only tests have several in one process.
  return `${hostname()}:${process.pid}${named === 1 ? '' : `/${named}`}`;
}

export function noPeers({ name, respond }: Self): Peers {
  return {
    async ask(question, argument) {
      const own = await respond(question, argument);
      return {
        responses: [{ gateway: name, response: own }],
        unresponsive: [],
        lost: [],
        isolated: null,
      };
    },
    forget: async () => {},
    close: async () => {},
  };
}

/** A gateway with an invalid response, perhaps of another version, counts as unresponsive. */
export async function ask<Argument, Response>(
  peers: Pick<Peers, 'ask'>,
  {
    name,
    isResponse,
  }: Pick<
    PeerQuery<string, Argument, never, never, never, Response>,
    'name' | 'isResponse'
  >,
  argument: Argument,
): Promise<PeerResponses<Response>> {
  const { responses, unresponsive, lost, isolated } = await peers.ask(
    name,
    argument,
  );
  const [understood, others] = [
    [] as PeerResponses<Response>['responses'][number][],
    [] as string[],
  ];
  for (const { gateway, response } of responses) {
    if (isResponse(response, argument)) understood.push({ gateway, response });
    else others.push(gateway);
  }
  return {
    responses: understood,
    unresponsive:
      others.length === 0 ? unresponsive : [...unresponsive, ...others].sort(),
    lost,
    isolated,
  };
}

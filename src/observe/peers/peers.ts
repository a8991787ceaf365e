import { hostname } from 'node:os';
import type { PeerQuery } from './query.ts';

/** A gateway as it answers the others that share its state. Arguments and answers are JSON values; arguments come from outside. */
export interface Self {
  readonly name: string;
  /** `null`: there is no such question. */
  readonly answer: (question: string, argument: unknown) => Promise<unknown> | null;
}

/** What the gateways of a fleet answered. */
export interface PeerAnswers<Answer> {
  /** This gateway's own answer comes first. */
  readonly answers: readonly { readonly gateway: string; readonly answer: Answer }[];
  /** Gateways that were heard a few seconds ago and did not answer in time. */
  readonly silent: readonly string[];
  /** Gateways that did not stop and have not been heard since, for a day: hung, killed, or without a way to the state. `at`: Unix milliseconds. */
  readonly lost: readonly { readonly gateway: string; readonly at: number }[];
  /** Why no other gateway could be asked, in words for operators; `null`: all were asked. */
  readonly apart: string | null;
}

/** All gateways that share one state. */
export interface Peers {
  /** Never rejects because of another gateway; rejects with what this gateway's own answer fails with. */
  ask(question: string, argument: unknown): Promise<PeerAnswers<unknown>>;
  close(): Promise<void>;
}

let named = 0;

/** A gateway as it is named to operators: its machine or container, and its process there. */
export function gatewayName(): string {
  named++;
  // Only tests have several in one process.
  return `${hostname()}:${process.pid}${named === 1 ? '' : `/${named}`}`;
}

/** A gateway that shares its state with nobody. */
export function noPeers({ name, answer }: Self): Peers {
  return {
    async ask(question, argument) {
      const own = await answer(question, argument);
      return { answers: [{ gateway: name, answer: own }], silent: [], lost: [], apart: null };
    },
    close: async () => {},
  };
}

/** Asks all gateways. A gateway whose answer is not understood, perhaps because its version is another one, counts as silent. */
export async function ask<Argument, Answer>(
  fleet: Pick<Peers, 'ask'>,
  { name, isAnswer }: Pick<PeerQuery<string, Argument, never, never, never, Answer>, 'name' | 'isAnswer'>,
  argument: Argument,
): Promise<PeerAnswers<Answer>> {
  const { answers, silent, lost, apart } = await fleet.ask(name, argument);
  const [understood, others] = [[] as PeerAnswers<Answer>['answers'][number][], [] as string[]];
  for (const { gateway, answer } of answers) {
    if (isAnswer(answer, argument)) understood.push({ gateway, answer });
    else others.push(gateway);
  }
  return { answers: understood, silent: others.length === 0 ? silent : [...silent, ...others].sort(), lost, apart };
}

import { hostname } from 'node:os';
import type { Eventually } from '../../common/eventually.ts';
import type { HistoryAnswer, HistoryQuestion } from './history.ts';
import type { LiveAnswer, LiveQuestion } from './live.ts';
import type { PeaksAnswer, PeaksQuestion } from './peaks.ts';
import type { Explained, ListedRequest, RequestFilter } from './requests.ts';
import type { GatewayStatus } from './status.ts';
import type { TopAnswer, TopQuestion } from './top.ts';

/**
 * What a gateway answers to the others that share its state: one function for each question, with one argument. Arguments and
 * answers are JSON values. An argument comes from outside: the function checks it.
 */
export interface Answers {
  readonly status: (nothing: null) => Eventually<GatewayStatus>;
  /** `null`: this is no such question, or no process is there to answer it. */
  readonly top: (question: TopQuestion) => Eventually<TopAnswer | null>;
  /** `null` as above. */
  readonly peaks: (question: PeaksQuestion) => Eventually<PeaksAnswer | null>;
  /** `null`: this is no such question. */
  readonly history: (question: HistoryQuestion) => Eventually<HistoryAnswer | null>;
  /** How it stands now; `null`: this is no such question. */
  readonly live: (question: LiveQuestion) => Eventually<LiveAnswer | null>;
  /** The request with this id, if this gateway carried it and has it yet. */
  readonly explain: (id: string) => Eventually<Explained>;
  /** Refusals and failures, newest first. */
  readonly refusals: (filter: RequestFilter) => Eventually<readonly ListedRequest[]>;
}

export type Question = keyof Answers;
export type ArgumentOf<Q extends Question> = Parameters<Answers[Q]>[0];
export type AnswerOf<Q extends Question> = Awaited<ReturnType<Answers[Q]>>;

/** What the gateways of a fleet answered. */
export interface Gathered<Q extends Question> {
  /** This gateway's own answer comes first. */
  readonly answers: readonly { readonly gateway: string; readonly answer: AnswerOf<Q> }[];
  /** Gateways that were heard a few seconds ago and did not answer in time. */
  readonly silent: readonly string[];
  /** Gateways that did not stop and have not been heard since, for a day: hung, killed, or without a way to the state. `at`: Unix milliseconds. */
  readonly lost: readonly { readonly gateway: string; readonly at: number }[];
  /** Why no other gateway could be asked, in words for operators; `null`: all were asked. */
  readonly apart: string | null;
}

/** All gateways that share one state. */
export interface Fleet {
  /** Never rejects because of another gateway; rejects with what this gateway's own answer fails with. */
  ask<Q extends Question>(question: Q, argument: ArgumentOf<Q>): Promise<Gathered<Q>>;
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
export function fleetOfOne(name: string, answers: Answers): Fleet {
  return {
    async ask(question, argument) {
      return {
        answers: [{ gateway: name, answer: await answerTo(answers, question, argument) }],
        silent: [],
        lost: [],
        apart: null,
      };
    },
    close: async () => {},
  };
}

/** Answers a question by its name. */
export async function answerTo<Q extends Question>(
  answers: Answers,
  question: Q,
  argument: ArgumentOf<Q>,
): Promise<AnswerOf<Q>> {
  return (await answers[question](argument as never)) as AnswerOf<Q>;
}

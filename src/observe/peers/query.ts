import type { MaybePromise } from '../../common/maybe-promise.ts';

/** What the processes of one gateway that carry its requests answered, in the order of their numbers. */
export interface Parts<Part> {
  readonly parts: readonly Part[];
  /** How many did not answer in time. */
  readonly missing: number;
}

/**
 * A question that every gateway answers about itself. Each of its processes that carry requests has a part of the answer. Arguments, parts
 * and answers are JSON values; gateways of other versions send and receive them too.
 */
export interface PeerQuery<Name extends string, Argument, Process, Part, Gateway, Answer> {
  readonly name: Name;
  /** Whether another gateway sent a valid argument. */
  readonly isArgument: (value: unknown) => value is Argument;
  /** The answer to any other argument. */
  readonly otherwise: Answer | null;
  /** The part of one process; `process` is what is needed of it. */
  readonly part: (process: Process, argument: Argument) => Part;
  /** The answer of a gateway; `null`: it has none. */
  readonly answer: (parts: Parts<Part>, argument: Argument, gateway: Gateway) => MaybePromise<Answer | null>;
  /** Whether a gateway, perhaps of another version, sent an answer that is understood here. */
  readonly isAnswer: (value: unknown, argument: Argument) => value is Answer;
}

/** Checks the types of a question. */
export const peerQuery = <const Name extends string, Argument, Process, Part, Gateway, Answer>(
  value: PeerQuery<Name, Argument, Process, Part, Gateway, Answer>,
) => value;

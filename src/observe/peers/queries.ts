import { deprecated } from './deprecated.ts';
import type { Parts, PeerQuery } from './query.ts';
import { explain, refusals } from './requests.ts';
import { status } from './status.ts';

export const QUERIES = [status, explain, refusals, deprecated] as const;

type Each = (typeof QUERIES)[number];
// biome-ignore lint/suspicious/noExplicitAny: each question has types of its own, which `question` has checked.
type Any = PeerQuery<string, any, any, any, any, unknown>;

export type ProcessSources = Each['part'] extends (
  process: infer P,
  argument: never,
) => unknown
  ? P
  : never;
export type GatewaySources = Each['respond'] extends (
  parts: never,
  argument: never,
  gateway: infer G,
) => unknown
  ? G
  : never;

const byName: ReadonlyMap<string, Any> = new Map(
  QUERIES.map((one): [string, Any] => [one.name, one as Any]),
);

export const isQuery = (name: string): boolean => byName.has(name);

/** `responseOf` has validated the argument. */
export function partOf(
  process: ProcessSources,
  name: string,
  argument: unknown,
): unknown {
  return byName.get(name)!.part(process, argument);
}

export async function responseOf(
  name: string,
  argument: unknown,
  gateway: GatewaySources,
  ask: (name: string, argument: unknown) => Promise<Parts<unknown>>,
): Promise<unknown> {
  const question = byName.get(name)!;
  if (!question.isArgument(argument)) return question.otherwise;
  return await question.respond(await ask(name, argument), argument, gateway);
}

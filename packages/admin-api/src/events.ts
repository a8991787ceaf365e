import type { Operations } from './generated/types.ts';

/** By name. */
export type LiveEvents = Operations['followLive']['events'];

/** An event of the stream of `followLive`. */
export type LiveEvent = {
  [Name in keyof LiveEvents]: {
    readonly name: Name;
    readonly data: LiveEvents[Name];
  };
}[keyof LiveEvents];

/**
 * The complete events in a text of server-sent events, each with a name and a JSON value in one
 * line, and the rest of the text for the next part. Comments are skipped.
 */
export function eventsIn(text: string): {
  readonly events: readonly LiveEvent[];
  readonly rest: string;
} {
  const parts = text.split('\n\n');
  const rest = parts.pop()!;
  const events = parts.flatMap((part) => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? [];
    if (name === undefined || data === undefined) return [];
    return [{ name, data: JSON.parse(data) } as LiveEvent];
  });
  return { events, rest };
}

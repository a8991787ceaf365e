/**
 * An event of a stream of server-sent events, as the admin API sends them: a name, and a JSON value
 * in one line.
 */
export interface ServerEvent {
  readonly name: string;
  readonly data: unknown;
}

/**
 * The events that are whole in a text, and what is left of it for the next part. Comments are left
 * out.
 */
export function eventsIn(text: string): {
  readonly events: readonly ServerEvent[];
  readonly rest: string;
} {
  const parts = text.split('\n\n');
  const rest = parts.pop()!;
  const events = parts.flatMap((part) => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? [];
    return name === undefined || data === undefined
      ? []
      : [{ name, data: JSON.parse(data) as unknown }];
  });
  return { events, rest };
}

/** Reads what OpenTelemetry's exporter sends, without its code: opentelemetry-proto, trace/v1. */

/** Times are nanoseconds. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  /** 2: server. 3: client. */
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Attributes;
  readonly events: readonly {
    readonly name: string;
    readonly time: bigint;
    readonly attributes: Attributes;
  }[];
  /** 2: error. */
  readonly status: number;
  readonly resource: Attributes;
}

export type Attributes = Readonly<Record<string, unknown>>;

// biome-ignore lint/suspicious/noExplicitAny: JSON of another program, which the tests look at.
type Json = any;

export function spansInJson(text: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(text);
  return resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
    scopeSpans.flatMap(({ spans }: Json) =>
      spans.map((span: Json) => fromJson(span, attributesInJson(resource.attributes))),
    ),
  );
}

function fromJson(span: Json, resource: Attributes): ReceivedSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    traceState: span.traceState ?? '',
    name: span.name,
    kind: span.kind,
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
    attributes: attributesInJson(span.attributes),
    events: span.events.map(({ name, timeUnixNano, attributes }: Json) => ({
      name,
      time: BigInt(timeUnixNano),
      attributes: attributesInJson(attributes),
    })),
    status: span.status?.code ?? 0,
    resource,
  };
}

function attributesInJson(list: Json = []): Attributes {
  return Object.fromEntries(list.map(({ key, value }: Json) => [key, Object.values(value)[0]]));
}

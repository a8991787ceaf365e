/** Reads what OpenTelemetry's exporters send, without their code: opentelemetry-proto, trace/v1. */

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

export function spansInProtobuf(bytes: Buffer): ReceivedSpan[] {
  return messages(bytes, 1).flatMap((resourceSpans) => {
    const resource = attributesIn(messages(resourceSpans, 1)[0]!, 1);
    return messages(resourceSpans, 2).flatMap((scope) =>
      messages(scope, 2).map((span) => spanOf(span, resource)),
    );
  });
}

function spanOf(span: Buffer, resource: Attributes): ReceivedSpan {
  const [status] = messages(span, 15);
  return {
    traceId: bytesIn(span, 1).toString('hex'),
    spanId: bytesIn(span, 2).toString('hex'),
    parentSpanId: bytesIn(span, 4).toString('hex'),
    traceState: bytesIn(span, 3).toString(),
    name: bytesIn(span, 5).toString(),
    kind: Number(numberIn(span, 6)),
    start: numberIn(span, 7),
    end: numberIn(span, 8),
    attributes: attributesIn(span, 9),
    events: messages(span, 11).map((event) => ({
      name: bytesIn(event, 2).toString(),
      time: numberIn(event, 1),
      attributes: attributesIn(event, 3),
    })),
    status: status === undefined ? 0 : Number(numberIn(status, 3)),
    resource,
  };
}

function attributesIn(message: Buffer, field: number): Attributes {
  return Object.fromEntries(
    messages(message, field).map((pair) => [
      bytesIn(pair, 1).toString(),
      valueIn(messages(pair, 2)[0]!),
    ]),
  );
}

function valueIn(any: Buffer): unknown {
  for (const { field, value } of fieldsOf(any)) {
    if (field === 1) return (value as Buffer).toString();
    if (field === 2) return value === 1n;
    if (field === 3) return Number(value);
  }
  throw new Error('a value of a kind that the gateway does not send');
}

const messages = (bytes: Buffer, wanted: number): Buffer[] =>
  [...fieldsOf(bytes)].filter(({ field }) => field === wanted).map(({ value }) => value as Buffer);
const bytesIn = (bytes: Buffer, wanted: number): Buffer =>
  messages(bytes, wanted)[0] ?? Buffer.alloc(0);
const numberIn = (bytes: Buffer, wanted: number): bigint =>
  ([...fieldsOf(bytes)].find(({ field }) => field === wanted)?.value as bigint | undefined) ?? 0n;

/** Numbers, or bytes that may be a text or a message. */
function* fieldsOf(bytes: Buffer): Generator<{ field: number; value: Buffer | bigint }> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const [field, kind] = [tag >> 3, tag & 7];
    if (kind === 0) yield { field, value: varint() };
    else if (kind === 1) {
      yield { field, value: bytes.readBigUInt64LE(at) };
      at += 8;
    } else if (kind === 5) {
      yield { field, value: BigInt(bytes.readUInt32LE(at)) };
      at += 4;
    } else if (kind === 2) {
      const length = Number(varint());
      yield { field, value: bytes.subarray(at, at + length) };
      at += length;
    } else throw new Error(`a field of kind ${kind}`);
  }
}

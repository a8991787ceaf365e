import {
  hasExcess,
  packReading,
  type Reading,
  readingOf,
} from '../../limits/admission.ts';
import type { BanEscalation, Window } from '../../limits/limits.ts';
import { countsIn, NO_SCOPES, type Scopes } from '../../limits/scopes.ts';
import type { BackendName, RequestEvent, RequestTrace } from '../events.ts';
import type { Notes, RequestLogEntry } from './view.ts';

/** Windows with columns. */
const WINDOWS = 4;
const NUMBERS = 12 + 2 * WINDOWS;

/** What a success holds besides numbers. */
class References {
  id = '';
  method = '';
  operation = '';
  keyId: string | null = null;
  account: string | null = null;
  plan: string | null = null;
  verdict: string | null = null;
  path: string | null = null;
  subject: string | null = null;
  by: 'memory' | 'local' | undefined = undefined;
  escalation: BanEscalation | null = null;
  scopes: Scopes = NO_SCOPES;
  traceparent: string | null = null;
  backend: BackendName | null = null;
  address = '';
  notes: Notes | null = null;
  readonly windows: (Window | null)[] = Array(WINDOWS).fill(null);
  /** For requests with more windows than columns. */
  readings: readonly Reading[] | null = null;
}

/**
 * The last successes, in columns that live as long as the buffer: kept event objects would survive
 * young collections, which cost more than admission itself.
 */
export function createSuccessBuffer(capacity: number) {
  const numbers = new Float64Array(capacity * NUMBERS);
  const references: References[] = [];
  let next = 0;

  function put(
    event: RequestEvent,
    address: string,
    notes: Notes | null,
    endedAt: number,
  ): void {
    const { trace } = event;
    if (capacity === 0 || trace === undefined) return;
    const at = next;
    next = at + 1 === capacity ? 0 : at + 1;
    if (at === references.length) references.push(new References());
    const kept = references[at]!;
    writeReferences(kept, event, trace);
    kept.address = address;
    kept.notes = notes;
    const first = at * NUMBERS;
    numbers[first] = endedAt;
    numbers[first + 1] = event.status;
    numbers[first + 2] = event.duration;
    numbers[first + 3] = orNone(event.upstream);
    numbers[first + 4] = orNone(trace.authenticated);
    numbers[first + 5] = orNone(trace.admitted);
    numbers[first + 6] = orNone(trace.forwarded);
    numbers[first + 7] = trace.cost;
    numbers[first + 8] = orNone(trace.declared);
    numbers[first + 9] = trace.received;
    numbers[first + 10] =
      trace.admission === null ? 0 : trace.admission.strikes;
    numbers[first + 11] = trace.usage === null ? Number.NaN : trace.usage.now;
    writeReadings(kept, numbers, first + 12, trace);
  }

  function find(id: string): RequestLogEntry | null {
    const at = references.findIndex((one) => one.id === id);
    return at === -1 ? null : read(at);
  }

  function* oldestFirst(): Iterable<RequestLogEntry> {
    const size = references.length;
    const first = size < capacity ? 0 : next;
    for (let i = 0; i < size; i++) yield read((first + i) % size);
  }

  function read(at: number): RequestLogEntry {
    const kept = references[at]!;
    const {
      id,
      method,
      operation,
      keyId,
      account,
      plan,
      address,
      verdict,
      notes,
    } = kept;
    const row = numbers.subarray(at * NUMBERS, (at + 1) * NUMBERS);
    const event: RequestEvent = {
      type: 'request',
      id,
      method,
      operation,
      keyId,
      account,
      plan,
      address,
      verdict,
      status: row[1]!,
      complete: true,
      nearLimit: false,
      unheeding: false,
      deprecated: false,
      code: null,
      step: null,
      duration: row[2]!,
      upstream: orNull(row[3]!),
      trace: traceIn(kept, row),
    };
    return { event, notes, endedAt: row[0]!, repeated: 0 };
  }

  return {
    capacity,
    put,
    find,
    oldestFirst,
    /**
     * The end of the oldest, Unix milliseconds, but not after that of the newest; 0: nothing was
     * dropped.
     */
    get since() {
      if (capacity === 0 || references.length < capacity) return 0;
      const newest = (next + capacity - 1) % capacity;
      return Math.min(numbers[next * NUMBERS]!, numbers[newest * NUMBERS]!);
    },
  };
}

function writeReferences(
  kept: References,
  event: RequestEvent,
  trace: RequestTrace,
): void {
  kept.id = event.id;
  kept.method = event.method;
  kept.operation = event.operation;
  kept.keyId = event.keyId;
  kept.account = event.account;
  kept.plan = event.plan;
  kept.verdict = event.verdict;
  kept.path = trace.path;
  kept.subject = trace.subject;
  kept.by = trace.admission === null ? undefined : trace.admission.by;
  kept.escalation = trace.escalation;
  kept.scopes = trace.scopes;
  kept.traceparent = trace.traceparent;
  kept.backend = trace.backend;
}

function writeReadings(
  kept: References,
  numbers: Float64Array,
  first: number,
  trace: RequestTrace,
): void {
  kept.windows.fill(null);
  kept.readings = null;
  if (trace.usage === null) return;
  let written = 0;
  for (const reading of trace.usage.readings) {
    const { window, resetAt } = reading;
    if (!countsIn(window, trace.scopes)) continue;
    if (written === WINDOWS) {
      kept.readings = trace.usage.readings;
      return;
    }
    kept.windows[written] = window;
    numbers[first + 2 * written] = packReading(reading);
    numbers[first + 2 * written + 1] = resetAt;
    written++;
  }
}

function traceIn(kept: References, numbers: Float64Array): RequestTrace {
  const {
    path,
    subject,
    verdict,
    by,
    escalation,
    scopes,
    traceparent,
    backend,
  } = kept;
  const now = numbers[11]!;
  const usage = Number.isNaN(now)
    ? null
    : { readings: readingsIn(kept, numbers), now };
  return {
    path,
    subject,
    escalation,
    scopes,
    traceparent,
    backend,
    usage,
    message: null,
    reason: null,
    faults: null,
    faultCount: 0,
    admission:
      verdict === null || usage === null
        ? null
        : {
            ...usage,
            verdict: 'admitted',
            strikes: numbers[10]!,
            freeRefusals: 0,
            retryAt: 0,
            violated: null,
            bannedUntil: 0,
            banBegins: false,
            ...(by === undefined ? {} : { by }),
            ...(usage.readings.some(hasExcess) && {
              exceeds: true,
            }),
          },
    cost: numbers[7]!,
    declared: orNull(numbers[8]!),
    received: numbers[9]!,
    sent: 0,
    authenticated: orNull(numbers[4]!),
    admitted: orNull(numbers[5]!),
    forwarded: orNull(numbers[6]!),
  };
}

function readingsIn(
  { readings, windows }: References,
  numbers: Float64Array,
): readonly Reading[] {
  if (readings !== null) return readings;
  const known = windows.filter((window) => window !== null);
  return known.map((window, i) =>
    readingOf(window, numbers[12 + 2 * i]!, numbers[13 + 2 * i]!),
  );
}

const orNone = (value: number | null): number =>
  value === null ? Number.NaN : value;
const orNull = (value: number): number | null =>
  Number.isNaN(value) ? null : value;

import { readFileSync } from 'node:fs';
import type {
  ReadableSpan,
  SpanExporter,
  SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { Tracing as Settings } from '../../config/config.ts';
import type { Observe } from '../events.ts';
import type { Sdk } from './sdk.ts';

type Done = Parameters<SpanExporter['export']>[1];

/** `ExportResultCode` of the SDK. */
const SUCCESS = 0;
const FAILED = 1;

/**
 * `stopped` aborts exports in flight, which would otherwise hold the process until the SDK's
 * timeout. Rejects with one sentence if settings are invalid or a file cannot be read.
 */
export async function createExporter(
  url: string,
  settings: Settings,
  stopped: AbortSignal,
): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import(
    '@opentelemetry/exporter-trace-otlp-http'
  );
  type ExporterConfig = NonNullable<
    ConstructorParameters<typeof OTLPTraceExporter>[0]
  >;
  const { batch, timeout, headers, compression, clientCertificate, clientKey } =
    settings;
  return new OTLPTraceExporter({
    url,
    timeoutMillis: timeout,
    headers: async () => {
      stopped.throwIfAborted();
      return { ...headers };
    },
    compression: compression as NonNullable<ExporterConfig['compression']>,
    // All waiting batches are sent at once when the gateway stops.
    concurrencyLimit:
      Math.ceil(batch.maxQueueSize / batch.maxExportBatchSize) + 2,
    httpAgentOptions: {
      keepAlive: true,
      // Missing in the type; every socket accepts it.
      ...{ signal: stopped },
      ...file('ca', settings.certificate),
      ...file('cert', clientCertificate),
      ...file('key', clientKey),
    },
  });
}

function file(option: 'ca' | 'cert' | 'key', path: string | null): object {
  return path === null ? {} : { [option]: readFileSync(path) };
}

/**
 * Sends spans in batches and reports the result of each. A full queue drops spans; requests never
 * wait.
 */
export function createOutbox(
  { trace }: Sdk,
  exporter: SpanExporter,
  { batch }: Pick<Settings, 'batch'>,
  observe: Observe,
) {
  const batches: SpanProcessor = new trace.BatchSpanProcessor({
    exporter: {
      export: send,
      forceFlush: async () => exporter.forceFlush?.(),
      shutdown: () => exporter.shutdown(),
    },
    maxQueueSize: batch.maxQueueSize,
    maxExportBatchSize: batch.maxExportBatchSize,
    scheduledDelayMillis: batch.scheduleDelay,
    exportTimeoutMillis: batch.exportTimeout,
  });
  let waiting = 0;
  let sent = 0;
  let isClosed = false;
  let outage: { readonly since: number; lost: number } | null = null;

  function onEnd(span: ReadableSpan): void {
    if (waiting >= batch.maxQueueSize) {
      observe({
        type: 'spans',
        result: 'dropped',
        reason: 'queue full',
        count: 1,
      });
      return;
    }
    waiting++;
    batches.onEnd(span);
  }

  /** Returns whether all spans were sent within `patience` milliseconds; the rest is lost. */
  async function close(patience: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patience);
    });
    await Promise.race([batches.shutdown().catch(() => {}), over]);
    clearTimeout(timer);
    const remaining = waiting + sent;
    // Further exports are counted here.
    isClosed = true;
    if (remaining > 0)
      observe({
        type: 'spans',
        result: 'dropped',
        reason: 'stopped',
        count: remaining,
      });
    return remaining === 0;
  }

  function send(spans: ReadableSpan[], done: Done): void {
    waiting -= spans.length;
    sent += spans.length;
    let isOpen = true;
    const settle: Done = (result) => {
      if (!isOpen) return;
      isOpen = false;
      clearTimeout(timer);
      sent -= spans.length;
      report(spans.length, result);
      done(result);
    };
    // A collector that sends its response slowly would block the SDK for ever.
    const timer = setTimeout(
      () => settle({ code: FAILED, error: new Error('no response in time') }),
      batch.exportTimeout,
    );
    timer.unref();
    exporter.export(spans, settle);
  }

  function report(count: number, { code, error }: Parameters<Done>[0]): void {
    if (isClosed) return;
    if (code === SUCCESS) {
      observe({ type: 'spans', result: 'exported', count });
      if (outage === null) return;
      const { since, lost } = outage;
      outage = null;
      observe({
        type: 'otlp.export_recovered',
        duration: Math.round(performance.now() - since),
        dropped: lost,
      });
      return;
    }
    observe({ type: 'spans', result: 'failed', count });
    if (outage === null) {
      outage = { since: performance.now(), lost: 0 };
      observe({ type: 'otlp.export_failed', error: reasonOf(error) });
    }
    outage.lost += count;
  }

  const processor: SpanProcessor = {
    onStart() {},
    onEnd,
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
  return { processor, close };
}

/**
 * Omits the collector's text. The SDK keeps the status in `code`; an abort has a number there, too.
 */
function reasonOf(error: Error | undefined): Error {
  const { message = 'it was refused', code } = (error ?? {}) as {
    message?: string;
    code?: unknown;
  };
  return new Error(
    typeof code === 'number' && code >= 100 ? `HTTP ${code}` : message,
    typeof code === 'string' ? { cause: code } : {},
  );
}

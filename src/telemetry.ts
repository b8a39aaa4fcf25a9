import { setTimeout as sleep } from 'node:timers/promises';
import type * as Otel from '@opentelemetry/api';
import type { BullMQOtel, BullMQOTelSpan } from 'bullmq-otel';
import type { InSpan } from './sync/context.ts';
import { version } from './version.ts';

/** BullMQ's, without its metrics. */
interface QueueTelemetry {
  readonly tracer: Pick<BullMQOtel['tracer'], 'startSpan'>;
  readonly contextManager: BullMQOtel['contextManager'];
}

/** Traces, or nothing at all. Disposing it sends what was not sent yet, for two seconds at most. */
export interface Telemetry extends AsyncDisposable {
  /** What the queues are given; absent: no traces. */
  readonly queues?: QueueTelemetry;
  readonly inSpan: InSpan;
  /** What a log line says of the span that it was written in. */
  readonly logFields: () => object;
}

export const noTelemetry: Telemetry = {
  inSpan: (_name, _attributes, part) => part(),
  logFields: () => ({}),
  async [Symbol.asyncDispose]() {},
};

/** What every worker does every few seconds, whether there is a job or not: it would be most of what is kept. */
const routine: ReadonlySet<string> = new Set([
  'getNextJob',
  'moveStalledJobsToWait',
  'startStalledCheckTimer',
]);

/** So long (ms) a collector that does not answer may hold up the end of the process. */
const farewellMs = 2_000;

/**
 * Starts OpenTelemetry, which is loaded here and nowhere else: it takes a quarter of a second. Its SDK reads its own
 * variables (OTEL_…: endpoint, protocol, headers, sampler) from the environment itself, so that they mean what they mean
 * everywhere; OTEL_SERVICE_NAME is `leadsync` by default. Traces alone: metrics are scraped, logs are on stderr.
 * `warn` is told what the SDK has to say of faults.
 */
export async function startTelemetry(warn: (message: string) => void): Promise<Telemetry> {
  const [{ NodeSDK }, api, resources, bullmq] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/api'),
    import('@opentelemetry/resources'),
    import('bullmq-otel'),
  ]);
  const { diag, DiagLogLevel, SpanStatusCode, trace } = api;
  const { defaultResource, envDetector, hostDetector, resourceFromAttributes, serviceInstanceIdDetector } =
    resources;
  const sdk = new NodeSDK({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.name': 'leadsync', 'service.version': version }),
    ),
    // Not the process's command line, and nothing else of which nobody knows what stands in it.
    resourceDetectors: [hostDetector, serviceInstanceIdDetector, envDetector],
    metricReaders: [],
    logRecordProcessors: [],
  });
  // After the constructor, which would have it on stdout when OTEL_LOG_LEVEL is set; results stand there.
  let told = '';
  const tell = (message: string): void => {
    // A collector that is away is tried again every few seconds.
    if (message !== told) warn(message);
    told = message;
  };
  const silent = (): void => {};
  diag.setLogger(
    { error: tell, warn: tell, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  sdk.start();
  const tracer = trace.getTracer('leadsync', version);
  return {
    queues: withoutRoutine(bullmq, api),
    inSpan: (name, attributes, part) =>
      tracer.startActiveSpan(name, { attributes: { ...attributes } }, async (span) => {
        try {
          return await part();
        } catch (error) {
          // The code alone: a message may quote what a service said.
          span.setStatus({ code: SpanStatusCode.ERROR, message: codeOf(error) });
          throw error;
        } finally {
          span.end();
        }
      }),
    // pino's own `mixin`, not @opentelemetry/instrumentation-pino: that one needs a loader hook before the first import.
    logFields() {
      const context = trace.getActiveSpan()?.spanContext();
      return context === undefined ? {} : { trace_id: context.traceId, span_id: context.spanId };
    },
    async [Symbol.asyncDispose]() {
      const sent = sdk.shutdown().then(
        () => true,
        (error: unknown) => tell(String(error)),
      );
      if (await Promise.race([sent, sleep(farewellMs, false, { ref: false })])) return;
      // A request to a collector that is silent keeps the process alive for another ten seconds.
      setTimeout(() => process.exit(), 200).unref();
    },
  };
}

/** BullMQ's own integration; its spans are called OPERATION QUEUE. */
function withoutRoutine(
  bullmq: { readonly BullMQOtel: typeof BullMQOtel; readonly BullMQOTelSpan: typeof BullMQOTelSpan },
  { INVALID_SPAN_CONTEXT, trace }: typeof Otel,
): QueueTelemetry {
  const { contextManager, tracer } = new bullmq.BullMQOtel({ tracerName: 'bullmq', version });
  return {
    contextManager,
    tracer: {
      startSpan(name, options, context) {
        const [operation = ''] = name.split(' ');
        return routine.has(operation)
          ? new bullmq.BullMQOTelSpan(trace.wrapSpanContext(INVALID_SPAN_CONTEXT))
          : tracer.startSpan(name, options, context);
      },
    },
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'internal';
}

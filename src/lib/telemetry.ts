import { setTimeout as sleep } from 'node:timers/promises';
import type * as Otel from '@opentelemetry/api';
import type { BullMQOtel, BullMQOTelSpan } from 'bullmq-otel';
import { z } from 'zod';
import { codeOf } from './errors.ts';
import { parseJson } from './foreign-text.ts';
import { version } from './version.ts';

/** How OpenTelemetry's `loggingErrorHandler` writes an error. */
const errorSchema = z.object({ message: z.string() });

/** Faults that a process tells at most. */
const mostFaults = 100;

/** Runs a part of the work as a span of a trace. Attributes hold names and numbers of leadsync, never data of leads. */
export type InSpan = <T>(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  part: () => Promise<T>,
) => Promise<T>;

/** BullMQ's, without its metrics. */
interface QueueTelemetry {
  readonly tracer: Pick<BullMQOtel['tracer'], 'startSpan'>;
  readonly contextManager: BullMQOtel['contextManager'];
}

/** Disposing it sends what remains, for two seconds at most. */
export interface Telemetry extends AsyncDisposable {
  /** For the queues; absent: no traces. */
  readonly queues?: QueueTelemetry;
  readonly inSpan: InSpan;
  /** The fields of a log line that name its span. */
  readonly logFields: () => object;
}

export const noTelemetry: Telemetry = {
  inSpan: (_name, _attributes, part) => part(),
  logFields: () => ({}),
  async [Symbol.asyncDispose]() {},
};

/** Calls of the queue that every worker makes every few seconds without a job: they would be most of the spans. */
const routine: ReadonlySet<string> = new Set([
  'getNextJob',
  'moveStalledJobsToWait',
  'startStalledCheckTimer',
]);

/** Ms by which a silent collector may delay the end of the process. */
const farewellMs = 2_000;

/**
 * Starts OpenTelemetry, which is loaded only here: it takes a quarter of a second. Its SDK reads its own variables (OTEL_…:
 * endpoint, protocol, headers, sampler) from the environment, with their usual meaning; OTEL_SERVICE_NAME is `leadsync` by
 * default. No logs: they are on stderr. `warn` receives the SDK's faults, each once.
 */
export async function startTelemetry(
  { traces, metrics }: { readonly traces: boolean; readonly metrics: boolean },
  warn: (message: string) => void,
): Promise<Telemetry> {
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
    // Without the process detector: a command line may hold secrets.
    resourceDetectors: [hostDetector, serviceInstanceIdDetector, envDetector],
    // Its own, by the environment.
    ...(!traces && { spanProcessors: [] }),
    ...(!metrics && { metricReaders: [] }),
    logRecordProcessors: [],
  });
  // After the constructor, which with OTEL_LOG_LEVEL sets a logger on stdout, where the results go.
  const told = new Set<string>();
  const report = (...parts: readonly unknown[]): void => {
    const message = faultText(parts);
    // The SDK tries a collector that is away every few seconds, for spans and for metrics.
    if (told.has(message) || told.size >= mostFaults) return;
    told.add(message);
    warn(message);
  };
  const silent = (): void => {};
  diag.setLogger(
    { error: report, warn: report, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  sdk.start();
  const end = async (): Promise<void> => {
    const sent = sdk.shutdown().then(
      () => true,
      (error: unknown) => report(error),
    );
    if (await Promise.race([sent, sleep(farewellMs, false, { ref: false })])) return;
    // A request to a silent collector keeps the process alive for another ten seconds.
    setTimeout(() => process.exit(), 200).unref();
  };
  if (!traces) return { ...noTelemetry, [Symbol.asyncDispose]: end };
  const tracer = trace.getTracer('leadsync', version);
  return {
    queues: withoutRoutine(bullmq, api),
    inSpan: (name, attributes, part) =>
      tracer.startActiveSpan(name, { attributes: { ...attributes } }, async (span) => {
        try {
          return await part();
        } catch (error) {
          // The code alone: a message may quote a service.
          span.setStatus({ code: SpanStatusCode.ERROR, message: codeOf(error) ?? 'internal' });
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
    [Symbol.asyncDispose]: end,
  };
}

/** What the SDK says: a text, one of its parts with what that says, or an error as JSON. */
function faultText(parts: readonly unknown[]): string {
  const texts = parts
    .map((part) => (part instanceof Error ? part.message : part))
    .filter((part) => typeof part === 'string');
  const asError = texts.length === 1 ? errorSchema.safeParse(parseJson(texts[0] ?? '')).data : undefined;
  return asError?.message ?? texts.join(': ');
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

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** A value as OTLP's JSON has it (opentelemetry-proto, common/v1): a whole number is a text or a number. */
const valueSchema = z
  .object({
    stringValue: z.string(),
    intValue: z.coerce.number(),
    doubleValue: z.number(),
    boolValue: z.boolean(),
  })
  .partial()
  .transform((value) => value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue);
const attributesSchema = z
  .array(z.object({ key: z.string(), value: valueSchema }))
  .default([])
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value])));
const spanSchema = z.object({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: attributesSchema,
});
const requestSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: attributesSchema }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});

const pointSchema = z
  .object({
    attributes: attributesSchema,
    asDouble: z.number().optional(),
    asInt: z.coerce.number().optional(),
  })
  .transform(({ attributes, asDouble, asInt }) => ({ labels: attributes, value: asDouble ?? asInt }));
const pointsSchema = z.object({ dataPoints: z.array(pointSchema) });
const metricsSchema = z.object({
  resourceMetrics: z.array(
    z.object({
      scopeMetrics: z.array(
        z.object({
          metrics: z.array(
            z.object({ name: z.string(), gauge: pointsSchema.optional(), sum: pointsSchema.optional() }),
          ),
        }),
      ),
    }),
  ),
});

type Span = z.infer<typeof spanSchema> & { readonly service: unknown };

/** A collector that takes traces and metrics as OTLP over HTTP in JSON. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly Span[];
  /** The last points of each metric. */
  readonly metrics: ReadonlyMap<string, readonly z.infer<typeof pointSchema>[]>;
  /** All bodies, as they came. */
  readonly bodies: readonly string[];
  readonly headers: readonly IncomingHttpHeaders[];
}

/** `silent`: requests are taken and never answered. */
export async function startOtlpReceiver({ silent = false } = {}): Promise<OtlpReceiver> {
  const spans: Span[] = [];
  const metrics = new Map<string, readonly z.infer<typeof pointSchema>[]>();
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      bodies.push(body);
      headers.push(request.headers);
      if (silent) return;
      if (request.url === '/v1/metrics') {
        const { resourceMetrics } = metricsSchema.parse(JSON.parse(body));
        const all = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
        for (const { name, gauge, sum } of all) metrics.set(name, (gauge ?? sum)?.dataPoints ?? []);
        return response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      }
      if (request.url !== '/v1/traces') return response.writeHead(404).end();
      for (const { resource, scopeSpans } of requestSchema.parse(JSON.parse(body)).resourceSpans)
        for (const { spans: some } of scopeSpans)
          spans.push(...some.map((span) => ({ ...span, service: resource.attributes['service.name'] })));
      return response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    bodies,
    headers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

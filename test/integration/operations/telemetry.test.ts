import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import type { CliProcess } from '../../support/cli.ts';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { slackMs, until } from '../../support/until.ts';
import { connectionName as connection, Workspace } from '../../support/workspace.ts';

interface Line {
  readonly msg: string;
  readonly trace_id?: string;
}

function logged(stderr: string): Line[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
}

/** Waits until the worker, at its start, has made up for the last night. */
async function isSynced({ database }: Workspace, worker: CliProcess): Promise<void> {
  await until('the worker is ready', () => worker.stderr.includes('worker is ready'));
  await until('it has synced', async () => {
    const { rowCount } = await database.pool.query(`select from runs where status = 'succeeded'`);
    return rowCount === 1;
  });
}

test('a worker’s sync is a trace: the job, each phase of the run, and the log lines; at SIGTERM all is sent, and no secret in it', async () => {
  await using collector = await startOtlpReceiver();
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const worker = workspace.start(['worker'], {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=sales',
      LOG_LEVEL: 'debug',
    },
  });
  await isSynced(workspace, worker);
  const { code, stdout, stderr } = await worker.kill('SIGTERM');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });

  const phases = collector.spans.filter(({ attributes }) => attributes['phase'] !== undefined);
  expect(phases.map(({ name }) => name)).toEqual([
    'pull',
    'read',
    'plan',
    'push-leads',
    'push-rows',
    'receipt',
  ]);
  for (const { name, attributes, service } of phases) {
    expect(attributes).toEqual({ connection, run: 1, phase: name, round: 1 });
    expect(service).toBe('leadsync');
  }
  const [pull] = phases;
  const job = collector.spans.find(({ spanId }) => spanId === pull?.parentSpanId);
  expect(job?.attributes).toMatchObject({
    'bullmq.queue.name': 'syncs',
    'bullmq.job.name': 'sync',
  });
  expect(new Set(phases.map(({ traceId, parentSpanId }) => `${traceId} ${parentSpanId}`)).size).toBe(1);
  expect(
    logged(stderr)
      .filter(({ msg }) => msg === 'step')
      .map((line) => line.trace_id),
  ).toEqual(phases.map(({ traceId }) => traceId));
  const ofRun = logged(stderr).filter(({ msg }) => msg === 'a sync begins' || msg === 'a sync succeeded');
  expect(ofRun.map((line) => line.trace_id)).toEqual([pull?.traceId, pull?.traceId]);
  // Workers that find nothing to do are no trace.
  const routine = /^(getNextJob|moveStalledJobsToWait|startStalledCheckTimer) /;
  expect(collector.spans.filter(({ name }) => routine.test(name))).toEqual([]);
  expect(collector.headers.every((headers) => headers['x-tenant'] === 'sales')).toBe(true);

  const sent = collector.bodies.join('\n');
  const { LEADS_API_KEY: apiKey, DATABASE_URL: database } = workspace.env;
  for (const secret of [apiKey, database]) expect(sent).not.toContain(secret);
  for (const { id, companyName } of workspace.sandbox.leads.list() as { id: string; companyName: string }[]) {
    expect(sent).not.toContain(id);
    expect(sent).not.toContain(companyName);
  }
});

test('a collector that is silent holds up neither the sync nor the end: SIGTERM is obeyed within 10 s', async () => {
  await using collector = await startOtlpReceiver({ silent: true });
  await using workspace = await Workspace.open({ sandbox: { leads: 1 } });
  const worker = workspace.start(['worker'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  await isSynced(workspace, worker);
  const from = performance.now();
  expect((await worker.kill('SIGTERM')).code).toBe(0);
  expect(performance.now() - from).toBeLessThan(10_000 + slackMs);
  expect(collector.bodies.length).toBeGreaterThan(0);
});

test('the figures of /metrics go to the collector, too', async () => {
  await using collector = await startOtlpReceiver();
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const worker = workspace.start(['worker'], {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_METRIC_EXPORT_INTERVAL: '300',
      OTEL_METRIC_EXPORT_TIMEOUT: '300',
    },
  });
  await isSynced(workspace, worker);
  const of = (name: string, labels: object) =>
    collector.metrics
      .get(name)
      ?.filter((point) => isDeepStrictEqual({ ...point.labels, ...labels }, point.labels));
  await until('the run is told', () => of('leadsync_last_success_age_seconds', { connection })?.length === 1);
  expect(of('leadsync_database_up', {})).toEqual([{ labels: {}, value: 1 }]);
  expect(of('leadsync_requests_total', { side: 'leads', status: '200' })?.[0]?.value).toBeGreaterThan(0);
});

test('figures without traces: nothing is sent where nobody asked for traces, and no line has a trace', async () => {
  await using collector = await startOtlpReceiver();
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const worker = workspace.start(['worker'], {
    env: {
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRIC_EXPORT_INTERVAL: '2000',
      OTEL_METRIC_EXPORT_TIMEOUT: '2000',
    },
  });
  await isSynced(workspace, worker);
  await until('the figures are told', () => collector.metrics.has('leadsync_database_up'));
  const { code, stderr } = await worker.kill('SIGTERM');
  expect(code).toBe(0);
  expect(stderr).not.toContain('OpenTelemetry');
  expect(stderr).not.toContain('trace_id');
  expect(stderr).not.toContain('cannot be read');
});

test('what the SDK cannot do is told in words, each once', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const worker = workspace.start(['worker'], {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_METRIC_EXPORT_INTERVAL: '2000',
      OTEL_METRIC_EXPORT_TIMEOUT: '2000',
      OTEL_BSP_SCHEDULE_DELAY: '200',
      OTEL_EXPORTER_OTLP_TIMEOUT: '300',
    },
  });
  await isSynced(workspace, worker);
  await until('a fault is told', () => worker.stderr.includes('OpenTelemetry'));
  const { stderr } = await worker.kill('SIGTERM');
  const told = logged(stderr).filter(({ msg }) => msg.startsWith('OpenTelemetry'));
  expect(told.map(({ msg }) => msg)).toContain('OpenTelemetry: connect ECONNREFUSED 127.0.0.1:9');
  expect(new Set(told.map(({ msg }) => msg)).size).toBe(told.length);
  expect(stderr).not.toContain('stack');
});

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };

test.each([
  [undefined, {}],
  [{ traces: true, metrics: false }, endpoint],
  [{ traces: true, metrics: false }, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces' }],
  [{ traces: true, metrics: false }, { OTEL_TRACES_EXPORTER: 'otlp' }],
  [
    { traces: true, metrics: false },
    { ...endpoint, OTEL_METRICS_EXPORTER: 'none' },
  ],
  [
    { traces: true, metrics: true },
    { ...endpoint, OTEL_METRICS_EXPORTER: 'otlp' },
  ],
  [
    { traces: false, metrics: true },
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:9/v1/metrics' },
  ],
  [
    { traces: false, metrics: true },
    { ...endpoint, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'otlp' },
  ],
  [
    { traces: true, metrics: false },
    { ...endpoint, OTEL_SDK_DISABLED: 'false' },
  ],
  [undefined, { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }],
  [undefined, { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }],
  [undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
])('wanted: %j for %j', async (telemetry, env) => {
  const connection = { LEADS_BASE_URL: 'http://127.0.0.1:9', LEADS_API_KEY: 'key', TARGET: 'leads.csv' };
  const config = await loadConfig({ env: { ...connection, ...env }, cwd: '/' });
  expect(config.telemetry).toEqual(telemetry);
});

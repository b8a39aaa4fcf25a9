import type { Environment } from './environment.ts';

/**
 * Whether OpenTelemetry's own variables ask for traces. That is all that is read of them here: where to, how and how many
 * is between them and its SDK.
 */
export function wantsTraces(environment: Environment): boolean {
  const isOff = environment.get('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  const exporter = environment.get('OTEL_TRACES_EXPORTER');
  const general = environment.get('OTEL_EXPORTER_OTLP_ENDPOINT');
  const forTraces = environment.get('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  if (isOff) return false;
  return exporter === undefined ? general !== undefined || forTraces !== undefined : exporter !== 'none';
}

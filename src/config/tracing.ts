import type { Environment } from './environment.ts';

/**
 * Whether OpenTelemetry's own variables ask for traces. That is all that is read of them here: where to, how and how many
 * is between them and its SDK.
 */
export function wantsTraces(environment: Environment): boolean {
  const value = (name: string): string | undefined => {
    const looked = environment.lookup(name);
    return looked.status === 'found' ? looked.value : undefined;
  };
  if (value('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false;
  const exporter = value('OTEL_TRACES_EXPORTER');
  if (exporter !== undefined) return exporter !== 'none';
  return ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'].some(
    (name) => value(name) !== undefined,
  );
}

import { format } from 'node:util';
import { type LogFn, type Logger, pino } from 'pino';
import { type App, openApp } from '../app.ts';
import type { Config } from '../config/config.ts';
import { isDatabaseOutage } from '../postgres/database-outage.ts';
import { codeOf, LeadsyncError } from '../lib/errors.ts';
import { useDatabaseTime } from '../store/database-time.ts';
import { noTelemetry, startTelemetry, type Telemetry } from '../lib/telemetry.ts';
import { type CommonOptions, loadNarrowed } from './with-store.ts';

const warnLevel = pino.levels.values['warn'] ?? 40;

/** As `logFormat` says, on stderr. A fault that `isReported` has a line already: others of it are for debugging. */
async function createLog(
  { logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>,
  mixin: () => object,
  isReported: (fault: unknown) => boolean,
): Promise<Logger> {
  const isNamed = logFormat === 'named';
  const options = {
    level: logLevel,
    ...(isNamed && {
      formatters: { level: (label: string) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    }),
    base: null,
    mixin,
    serializers: { err: (error: unknown) => describeError(error) },
    hooks: {
      streamWrite: withoutAddresses,
      logMethod(this: Logger, line: Parameters<LogFn>, write: LogFn, level: number): void {
        const [fields] = line as readonly unknown[];
        const isFault =
          level >= warnLevel && typeof fields === 'object' && fields !== null && 'err' in fields;
        if (isFault && isReported(fields.err)) this.debug(...line);
        else write.apply(this, line);
      },
    },
  };
  const isPretty = logFormat === 'auto' ? process.stderr.isTTY : logFormat === 'pretty';
  const out = isPretty
    ? (await import('pino-pretty')).default({
        destination: 2,
        sync: true,
        ignore: 'pid,hostname',
        translateTime: 'HH:MM:ss',
      })
    : pino.destination(2);
  // As on a full disk: no reason to end the work half-way.
  out.on('error', () => {});
  return pino(options, out);
}

/** Without e-mail addresses, unless it is for debugging: mail servers quote addresses in their replies. The id of the reminder or lead leads to them. */
function withoutAddresses(line: string): string {
  if (/^\{"level":(?:[12]0|"trace"|"debug"),/.test(line)) return line;
  return line.replaceAll(
    /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu,
    '(address)',
  );
}

/** Without the error's properties, which may hold connections and their passwords; with a stack only when it is unexpected. */
function describeError(error: unknown, isExpected = false): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = codeOf(error);
  const expected = isExpected || isExpectedFault(error);
  const stack = expected ? {} : { stack: error.stack };
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause, expected) };
  return { ...(code !== null && { code }), message: error.message, ...stack, ...cause };
}

/** Codes of BullMQ are numbers: another worker has taken the job over, for instance. */
function isExpectedFault(error: Error): boolean {
  if (error instanceof LeadsyncError) return error.code !== 'internal';
  return isDatabaseOutage(error) || ('code' in error && typeof error.code === 'number');
}

/** Warnings of Node and of packages, which would be text between the lines of the log, as lines of it; each once. */
function logWarnings(log: Logger): void {
  const told = new Set<string>();
  const tell = (warning: string): void => {
    if (told.has(warning)) return;
    told.add(warning);
    log.warn(warning);
  };
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => tell(`${name}: ${message}`));
  const tellAll = (...parts: unknown[]): void => tell(format(...parts));
  Object.assign(console, { warn: tellAll, error: tellAll });
}

/** Ms after which a process ends even when something keeps it alive. */
const leftOverMs = 1_000;

export const withApp = (options: CommonOptions, run: (app: App) => Promise<void>): Promise<void> =>
  withOpened(options, openApp, run);

/** The same with what `open` opens. */
export async function withOpened<T extends App>(
  options: CommonOptions,
  open: (config: Config, log: Logger, telemetry: Telemetry) => Promise<T>,
  run: (app: T) => Promise<void>,
): Promise<void> {
  const config = await loadNarrowed(options);
  let telemetry: Telemetry = noTelemetry;
  let watches: readonly App['database'][] = [];
  const log = await createLog(
    config,
    () => telemetry.logFields(),
    (fault) => watches.some((watch) => watch.takes(fault)),
  );
  logWarnings(log);
  if (config.telemetry !== undefined)
    telemetry = await startTelemetry(config.telemetry, (message) => log.warn(`OpenTelemetry: ${message}`));
  await using stack = new AsyncDisposableStack();
  // BullMQ loses track of the connection of a worker that it closes while it connects to Redis.
  stack.defer(() => void setTimeout(() => process.exit(), leftOverMs).unref());
  stack.use(telemetry);
  const app = stack.use(await open(config, log, telemetry));
  watches = [app.database, app.queue];
  stack.use(await useDatabaseTime(app.pool));
  await run(app);
}

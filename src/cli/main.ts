import { CommanderError } from 'commander';
import { codeOf } from '../lib/errors.ts';
import { reportError, reportUsage, surviveLostOutput } from './output.ts';
import { createProgram } from './program.ts';
import { asStopped, endStopped, heedSignals, isSuccess, stoppedCode } from './stop.ts';

// bin/leadsync.js holds a channel to us under an old Node; only its end shows that the parent was killed.
if (process.connected) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // The channel alone must not keep the process alive.
  process.channel?.unref();
}

// Node would print such an error with all its fields: commands and addresses, with their passwords.
process.on('uncaughtException', (error: unknown) => {
  reportError(error, process.argv.includes('--json'));
  process.exit();
});

surviveLostOutput();
heedSignals();

try {
  await createProgram().parseAsync();
} catch (error) {
  const json = process.argv.includes('--json');
  if (error instanceof CommanderError) reportUsage(error, json);
  else if (!isSuccess(error)) {
    const told = asStopped(error);
    reportError(told, json);
    if (codeOf(told) === 'process.stopped') process.exitCode = stoppedCode();
  }
}
endStopped();

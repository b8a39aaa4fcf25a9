import { codeOf } from '../errors.ts';
import { exitCodes } from './output.ts';

/**
 * Half a sync would be worse than an unread line: the command ends its work. Whoever reads may go away (`| head`); output lost otherwise, as
 * on a full disk, fails the command.
 */
export function surviveLostOutput(): void {
  let isLost = false;
  process.stdout.on('error', (error: unknown) => {
    const code = codeOf(error);
    if (isLost || code === 'EPIPE') return;
    isLost = true;
    process.stderr.write(
      `leadsync: the output cannot be written (${code ?? String(error)}); the command goes on without it\n`,
    );
    process.on('exit', () => {
      process.exitCode = exitCodes.failed;
    });
  });
  // There is nowhere to say it.
  process.stderr.on('error', () => {});
}

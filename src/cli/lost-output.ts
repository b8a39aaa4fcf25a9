import { codeOf } from '../errors.ts';
import { exitCodes } from './output.ts';

/**
 * A command ends its work also when nobody takes its output: half a sync would be worse than an unread line. Whoever reads may
 * go away when they have seen enough (`| head`). Output that is lost otherwise, as on a full disk, fails the command.
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

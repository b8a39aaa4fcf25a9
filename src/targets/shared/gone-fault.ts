import { LeadsyncError } from '../../errors.ts';

/** Of a target that is missing, though rows of it are known. */
export function goneFault(name: string): LeadsyncError {
  const message = `${name} is not there any more, though its rows were in step before. Nothing was made or written.`;
  return new LeadsyncError('target.gone', message, {
    help: 'Is a share not mounted, or was it moved or renamed? Put it back, or set the target to where it is now.',
  });
}

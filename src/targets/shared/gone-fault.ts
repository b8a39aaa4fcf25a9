import { LeadsyncError } from '../../lib/errors.ts';

export function goneFault(name: string): LeadsyncError {
  const message = `${name} is missing, but had rows before. Nothing was created or written.`;
  return new LeadsyncError('target.gone', message, {
    help: 'Check whether a share is not mounted, or it was moved or renamed. Put it back, or set the target to its new place.',
  });
}

import { Redactor } from '../src/lib/redact.ts';
import { readGoogleReply } from '../src/targets/google-sheets/google-fault.ts';
import { Differs } from './check.ts';

/** How Google refuses a request, as `400 words`; null: it does not. */
export async function refusal(request: Promise<unknown>): Promise<string | null> {
  try {
    await request;
    return null;
  } catch (error) {
    const reply = readGoogleReply(error, new Redactor([]), Date.now());
    if (reply === null) throw error;
    return `${reply.status ?? reply.networkCode ?? 'no reply'} ${reply.words ?? ''}`.trim();
  }
}

/** Throws Differs unless the request is refused with this status; returns Google's words. */
export async function refusedWith(status: number, request: Promise<unknown>): Promise<string> {
  const answer = await refusal(request);
  if (answer?.startsWith(`${status} `) === true) return answer;
  throw new Differs(`${answer === null ? 'accepted' : `answered ${answer}`}, expected ${status}`);
}

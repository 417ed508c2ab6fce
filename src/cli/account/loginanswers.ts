import { EXIT } from '../../catalog/failures.ts';
import { readRefusal } from '../../core/doctor/probes.ts';
import { type Failure, isInterruption, reworded } from '../../core/failure.ts';
import type { Profile, ProfileSecret } from '../../core/profiles/config.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';
import { isSecretGiven } from './loginsecret.ts';

/** What was answered so far, and answers that turned out to be wrong: they are offered to be corrected. */
export interface LoginAnswers {
  readonly url?: string | undefined;
  readonly organization?: string | undefined;
  readonly secret?: ProfileSecret | undefined;
  readonly wrongUrl?: string | undefined;
  readonly wrongOrganization?: string | undefined;
}

/** What a person answers. */
type Answer = 'url' | 'organization' | 'secret';

/** What is about to be asked again, after what is wrong with it. */
export const AGAIN: Readonly<Record<Answer, string>> = {
  url: 'Correct the address; Ctrl+C ends this.',
  organization: 'Correct the organization, the rest is kept; Ctrl+C ends this.',
  secret: 'Give the secret again, the rest is kept; Ctrl+C ends this.',
};

/** Nobody's profile: enough to find out whether an address is that of the API, which refuses it. */
export const NOBODY: Profile = { url: '', organization: 'none', secret: { kind: 'token', token: 'none' } };

/** The answer that a failure of the server points to; undefined where it came from a flag, or none did. */
export function answerAtFault(failure: Failure, flags: FlagValues): Answer | undefined {
  const { exitCode, status, code } = failure;
  const wrong: Answer | undefined =
    code === 'auth.organization_forbidden' || status === 403
      ? 'organization'
      : exitCode === EXIT.auth
        ? 'secret'
        : exitCode === EXIT.network || status === 404
          ? 'url'
          : undefined;
  const isGiven =
    wrong === 'secret' ? isSecretGiven(flags) : wrong !== undefined && textFlag(flags, wrong) !== undefined;
  return isGiven ? undefined : wrong;
}

/** The answers without the one at fault. */
export function forgotten(answers: LoginAnswers, wrong: Answer): LoginAnswers {
  const { url, organization } = answers;
  if (wrong === 'url') return { ...answers, url: undefined, wrongUrl: url };
  return wrong === 'secret'
    ? { ...answers, secret: undefined }
    : { ...answers, organization: undefined, wrongOrganization: organization };
}

/** Throws what keeps an address from being that of the API; that nobody is refused shows that it is. */
export async function checkAddress(client: ApiClient, signal: AbortSignal): Promise<void> {
  const refusal = await readRefusal(client, signal);
  if (refusal !== undefined && refusal.exitCode !== EXIT.auth) throw refusal;
}

/** The failure of a login that ends; what was wrong before anything was sent says it all. */
export function nothingSaved(cause: Failure): Failure {
  if (cause.exitCode === EXIT.usage || cause.exitCode === EXIT.file || isInterruption(cause)) return cause;
  const hint = 'Check what was given for a secret, the organization and the address, and run molar login again.';
  return reworded(cause, {
    message: `${cause.message} Nothing was saved.`,
    ...(cause.status === 401 && { hint }),
  });
}

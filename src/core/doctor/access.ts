import { EXIT } from '../../catalog/failures.ts';
import type { ConnectionSettings } from '../connection/settings.ts';
import type { TokenFacts } from '../connection/tokenfacts.ts';
import { Failure } from '../failure.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import type { Doctor } from './diagnose.ts';
import { doubtful, type Finding, failed, fine } from './finding.ts';
import { clockAhead, type Heard, rateLeft } from './lastresponse.ts';
import { type Probed, probeScopes } from './probes.ts';
import { momentText, spanText } from './spans.ts';

/** What the server says to the token: token, organization, scopes, clock and rate limit. */
export async function accessFindings(settings: ConnectionSettings, doctor: Doctor): Promise<readonly Finding[]> {
  const about: Finding[] = [];
  try {
    const probed = await probeScopes(await doctor.connect(), doctor.signal, doctor.now());
    about.push(
      tokenFinding(doctor.token(), doctor.now()),
      fine('organization', `The token may work for organization ${settings.organization}.`),
      ...probed.map(scopeFinding),
    );
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    about.push(...refusedFindings(cause));
  }
  const heard = doctor.heard();
  return heard === undefined ? about : [...about, clockFinding(heard), rateFinding(heard)];
}

/** Milliseconds before its end at which a token that is not renewed by itself is worth a word. */
const SOON = 86_400_000;

function tokenFinding(facts: (TokenFacts & { readonly renewed: boolean }) | undefined, now: number): Finding {
  const accepted = 'The server accepts the token';
  if (facts?.expiresAt === undefined) return fine('token', `${accepted}. When it expires is not told.`);
  const left = facts.expiresAt - now;
  const until = `It expires ${momentText(facts.expiresAt)}, in ${spanText(left)}`;
  if (facts.renewed) return fine('token', `${accepted}. ${until}, and is renewed by itself.`);
  if (left > SOON) return fine('token', `${accepted}. ${until}.`);
  return doubtful('token', `${accepted}. ${until}.`, 'Ask for a new token, and keep it with molar login.');
}

function scopeFinding({ scope, allowed, failure }: Probed): Finding {
  if (allowed) return fine('scope', `The token has ${scope}.`);
  const message = `The token lacks ${scope}. ${failure?.message ?? ''}`.trim();
  if (scope === 'model:read') {
    return failed('scope', { message, hint: 'Use a token with this scope.', exitCode: EXIT.auth });
  }
  return doubtful('scope', message, `Commands that need ${scope} will be refused; use a token with it.`);
}

/** What failed, by the exit code of a failure that is not an answer of the API. */
const CHECKS: Readonly<Record<number, string>> = { [EXIT.network]: 'server', [EXIT.auth]: 'token' };

/** Next steps in place of those that name the doctor. */
const STEPS: Readonly<Record<string, string>> = {
  'network.unreachable': 'Check the address, the port, the firewall and the proxy.',
  'network.certificate': 'See what is said about tls above.',
};
const NEW_TOKEN =
  'Run molar login, or set MOLAR_TOKEN (or MOLAR_CLIENT_ID and MOLAR_CLIENT_SECRET) to what is valid now.';
const OTHER_ORGANIZATION = 'Use an organization that the token was issued for (MOLAR_ORGANIZATION, --organization).';

function refusedFindings(cause: Failure): readonly Finding[] {
  const { message, exitCode } = cause;
  if (!(cause instanceof ApiFailure)) {
    return [failed(CHECKS[exitCode] ?? 'configuration', { message, exitCode, hint: STEPS[cause.code] ?? cause.hint })];
  }
  if (cause.status === 401) return [failed('token', { message, exitCode, hint: NEW_TOKEN })];
  if (cause.status === 403) {
    const refused = failed('organization', { message, exitCode, hint: OTHER_ORGANIZATION });
    return [fine('token', 'The server accepts the token.'), refused];
  }
  if (cause.status !== 404) return [failed('server', cause)];
  const hint = 'Check the address (MOLAR_URL, --url): it is what stands before /api/v1.';
  return [failed('server', { message: `${cause.message} This is not the API.`, hint, exitCode: cause.exitCode })];
}

/** Seconds that an answer may be under way, and that a server does not tell apart. */
const UNSEEN = 2;

/** Seconds that clocks may differ before it is worth a word. */
const TOLERANCE = 60;

function clockFinding(heard: Heard): Finding {
  const seconds = clockAhead(heard);
  if (seconds === undefined) return fine('clock', 'The server does not tell its time.');
  if (Math.abs(seconds) <= UNSEEN) return fine('clock', "This computer's clock agrees with the server's.");
  const message = `This computer's clock is ${spanText(Math.abs(seconds) * 1000)} ${seconds < 0 ? 'behind' : 'ahead of'} the server's.`;
  if (Math.abs(seconds) <= TOLERANCE) return fine('clock', message);
  return doubtful('clock', message, 'Set the clock, best by network time: tokens and --since-last go by it.');
}

function rateFinding(heard: Heard): Finding {
  const rate = rateLeft(heard);
  if (rate === undefined) return fine('rate limit', 'The server does not tell how many requests are left.');
  const { left, limit } = rate;
  const message = `${left}${limit === undefined ? '' : ` of ${limit}`} requests are left.`;
  if (left > 0) return fine('rate limit', message);
  return doubtful('rate limit', message, 'Wait a little, or run fewer commands at a time.');
}

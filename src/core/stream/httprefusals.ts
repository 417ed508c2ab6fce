import { API_PREFIX } from '../../catalog/catalog.ts';
import { STREAM_PATH } from '../../catalog/stream/messages.ts';
import { Failure, localFailure, reworded } from '../failure.ts';
import { ApiFailure, WITHOUT_ROUTE } from '../transport/apifailure.ts';
import { redirectTarget } from '../transport/client.ts';
import { readEnvelope } from '../transport/envelope.ts';
import { RETRYABLE_STATUSES, retryAfterOf } from '../transport/retry.ts';
import { ConnectionFailure, type IncomingResponse, isCertificateProblem } from '../transport/send.ts';
import { ConnectionLost } from './source.ts';

/** Longest answer that is read for what it says is wrong, in bytes. */
const LONGEST_ANSWER = 64 * 1024;

/**
 * Why a connection was not made: final where the certificate is not trusted, or where no token was given out for a
 * reason that does not pass.
 */
export function asUnreachable(cause: unknown): unknown {
  if (cause instanceof Failure) return isPassing(cause) ? new ConnectionLost(cause) : cause;
  if (!(cause instanceof ConnectionFailure)) return cause;
  const { message } = cause;
  if (isCertificateProblem(cause.cause)) return localFailure('network.certificate', message, { cause });
  return new ConnectionLost(localFailure('network.unreachable', message, { cause }));
}

/** What kept a token from coming may pass, as what keeps the stream from coming may. */
function isPassing({ code, status }: Failure): boolean {
  return code === 'network.unreachable' || (status !== null && RETRYABLE_STATUSES.includes(status));
}

/** An answer that is no stream: `Lost` for what another try may change (408, 429, 5xx), otherwise a Failure. */
export async function asRefused(
  response: IncomingResponse,
  baseUrl: string,
  now: number,
  reading: (text: Promise<string>) => Promise<string>,
): Promise<ConnectionLost | Failure> {
  const { status, headers } = response;
  const requestId = headers['x-request-id'] ?? null;
  if (status >= 300 && status < 400) {
    const where = redirectTarget(headers.location, baseUrl);
    return localFailure('response.redirect', `The server redirects to ${where} (HTTP ${status}).`, { requestId });
  }
  if (status < 300)
    return localFailure('response.malformed', `The answer is no stream (HTTP ${status}).`, { requestId });
  const text = await reading(beginningOf(response)).catch(() => '');
  const failure = new ApiFailure(status, readEnvelope(text)?.errors ?? [], requestId);
  if (WITHOUT_ROUTE.includes(status))
    return reworded(failure, { message: `${failure.message} ${NO_STREAM}`, hint: SEE });
  return RETRYABLE_STATUSES.includes(status) ? new ConnectionLost(failure, retryAfterOf(headers, now)) : failure;
}

const NO_STREAM = `There is no stream at GET ${API_PREFIX}${STREAM_PATH}: the specification leaves the transport of its channel open.`;
const SEE = 'Check the address (MOLAR_URL, --url); where the service publishes to a message broker, --amqp reads that.';

async function beginningOf({ body }: IncomingResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > LONGEST_ANSWER) break;
  }
  return text;
}

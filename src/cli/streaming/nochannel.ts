import { API_PREFIX, operationOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { STREAM_PATH } from '../../catalog/stream/messages.ts';
import { readRefusal } from '../../core/doctor/probes.ts';
import { Failure, localFailure } from '../../core/failure.ts';
import { WITHOUT_ROUTE } from '../../core/transport/apifailure.ts';
import type { ApiClient } from '../../core/transport/client.ts';

/** Answers of a service that has no such route, does not give it to this token, or has something else there. */
const NO_CHANNEL: readonly number[] = [...WITHOUT_ROUTE, 400, 403, 406, 410, 415];

/** Codes of a connection that brought no answer, or one that is no stream. */
const NO_STREAM: readonly string[] = ['network.unreachable', 'response.malformed'];

/**
 * The failure of a stream that never opened. Where the API itself answers, the service has no channel that molar can
 * read, since the specification leaves its transport open; otherwise what keeps the API from answering.
 */
export async function asNoChannel(
  cause: unknown,
  resource: Resource,
  client: ApiClient,
  signal: AbortSignal,
): Promise<unknown> {
  if (!(cause instanceof Failure)) return cause;
  const meansNoChannel = cause.status === null ? NO_STREAM.includes(cause.code) : NO_CHANNEL.includes(cause.status);
  if (!meansNoChannel) return cause;
  try {
    const refusal = await readRefusal(client, signal);
    const answered = cause.status === null ? cause.message : `It answered HTTP ${cause.status}.`;
    return refusal ?? noChannel(resource, `Tried GET ${API_PREFIX}${STREAM_PATH}: ${answered}`, cause);
  } catch (unreached) {
    return unreached instanceof Failure ? cause : unreached;
  }
}

/** This service delivers to a channel that molar cannot read. `reason`: a sentence that says how that is known. */
export function noChannel(resource: Resource, reason: string, cause?: unknown): Failure {
  const requestId = cause instanceof Failure ? cause.requestId : null;
  const message = `This service has no streaming channel that molar can read; the specification leaves its transport open. ${reason}`;
  return localFailure('stream.unavailable', message, { hint: insteadOf(resource), requestId, cause });
}

/** Whether a failure says that the service has no channel. */
export function isNoChannel(cause: unknown): cause is Failure {
  return cause instanceof Failure && cause.code === 'stream.unavailable';
}

function insteadOf(resource: Resource): string {
  const { name, operations } = resource;
  if (operations.report !== undefined) return `Run it without --async: molar ${name} report.`;
  if (operations.list?.unlisted !== true) return `Run it without --async: molar ${name} list.`;
  return `Without --async molar asks GET ${API_PREFIX}${operations.list.path}, which the specification does not list; molar api ${operationOf(resource, 'async').path} shows the first ten.`;
}

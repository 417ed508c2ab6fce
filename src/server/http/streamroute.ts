import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_PREFIX } from '../../catalog/catalog.ts';
import { type Problem, Refusal, refusal } from '../../catalog/failures.ts';
import { POSITION_HEADER, STREAM_PATH } from '../../catalog/stream/messages.ts';
import { matchPatterns, patternProblem } from '../../catalog/stream/patterns.ts';
import { StreamTrail } from '../audit/streamtrail.ts';
import { nowOf } from '../clock.ts';
import { type AccessLog, placeOf } from '../log.ts';
import type { Service } from '../service.ts';
import {
  LISTENER_TIMES,
  ListenerSocket,
  type ListenerTimes,
  type Listening,
  serveListener,
} from '../stream/listener.ts';
import { formatFor } from '../stream/pages.ts';
import { type Position, positionText, readPosition, type Start } from '../stream/positions.ts';
import { type AuthContext, actorOf, type Caller, identify } from './identity.ts';

const SCOPE = 'model:read';

/** Idle time after which a socket is probed, to detect peers that vanished. */
const PROBE_MS = 30_000;

/** `GET /api/v1/stream`: the messages of one organization, from now on or from a position (D42). */
export function mountStream(
  app: FastifyInstance,
  auth: AuthContext,
  log: Pick<AccessLog, 'failed'>,
  listenerTimes?: Partial<ListenerTimes>,
): void {
  const { service } = auth;
  const times = { ...LISTENER_TIMES, ...listenerTimes };
  const open = new Set<AbortController>();
  let ending = false;

  app.addHook('preClose', async () => {
    ending = true;
    for (const listener of open) listener.abort();
  });

  app.route({
    method: 'GET',
    url: API_PREFIX + STREAM_PATH,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const caller = await identify(auth, request, SCOPE);
      const { patterns, asked } = readQuery(request);
      const start = await startOf(service, caller.organization.org, asked);
      const position = positionText(start.epoch, start.after);
      service.budgets.answers.begin(caller.organization.org, reply.raw);
      const trail = new StreamTrail(service, caller.organization.org, actorOf(request, caller.grant));
      await trail.begin();
      const closing = new AbortController();
      open.add(closing);
      // Either may have happened while the token was looked up.
      if (ending || request.raw.destroyed) closing.abort();
      const socket = openResponse(request, reply, closing, position);
      const listening: Listening = {
        stream: service.stream,
        organization: caller.organization,
        matches: matchPatterns(patterns),
        sent: (told) => trail.add(told),
        format: formatFor(request.headers.accept),
        socket,
        times,
        now: () => nowOf(service),
        check: tokenCheck(auth, request, caller, times.checkMs),
      };
      service.stream.listeners++;
      socket.write(listening.format.opening(position, unknownParameters(request)));
      try {
        await serveListener(listening, closing.signal, start);
        socket.end();
      } catch (error) {
        if (!(error instanceof Refusal)) log.failed(placeOf(request), error);
        socket.end(error instanceof Refusal ? listening.format.ending(error.message) : undefined);
      } finally {
        service.stream.listeners--;
        trail.end();
        open.delete(closing);
      }
    },
  });
}

/**
 * A check of the token, against the clock each time and against the store once in `checkMs`; and of the audit log: what
 * cannot be noted is not sent.
 */
function tokenCheck(auth: AuthContext, request: FastifyRequest, caller: Caller, checkMs: number): () => Promise<void> {
  let { grant } = caller;
  let checkedAt = performance.now();
  return async () => {
    auth.service.reads.admit();
    const expired = grant.expiresAt !== null && Date.parse(grant.expiresAt) <= auth.service.clock();
    if (!expired && performance.now() - checkedAt < checkMs) return;
    const { locations } = grant;
    grant = (await identify(auth, request, SCOPE)).grant;
    if (String(grant.locations) !== String(locations)) {
      throw refusal('auth.token_expired', 'Authorization', 'The token is for other locations now: listen again.');
    }
    checkedAt = performance.now();
  };
}

/** Starts the response outside of the framework, since it has no end. */
function openResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  closing: AbortController,
  position: string,
): ListenerSocket {
  reply.hijack();
  const response = reply.raw;
  response.once('close', () => closing.abort());
  // Idle and slow readers are handled by the listener's own times.
  request.raw.socket.setTimeout(0);
  request.raw.socket.setKeepAlive(true, PROBE_MS);
  const format = formatFor(request.headers.accept);
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': format.type,
    // Proxies that buffer a response would delay messages.
    'x-accel-buffering': 'no',
    [POSITION_HEADER]: position,
  });
  response.flushHeaders();
  return new ListenerSocket(response);
}

function readQuery(request: FastifyRequest): { patterns: readonly string[]; asked: Position | undefined } {
  const query = request.query as Record<string, string | string[]>;
  const patterns = [query.routingKey ?? []].flat().filter((pattern) => pattern.trim() !== '');
  const problems: Problem[] = patterns.flatMap((pattern) => {
    const description = patternProblem(pattern);
    return description === undefined ? [] : [{ code: 'stream.routing_key', source: 'routingKey', description }];
  });
  const header = [request.headers['last-event-id']].flat()[0]?.trim() || undefined;
  const sent = header ?? ([query.lastEventId ?? []].flat().at(-1)?.trim() || undefined);
  const asked = sent === undefined ? undefined : readPosition(sent);
  if (sent !== undefined && asked === undefined) {
    const description =
      'The position must be one that the stream has given, the id of a message, or 0 for the oldest stored message.';
    const source = header === undefined ? 'lastEventId' : 'Last-Event-ID';
    problems.push({ code: 'stream.position', source, description });
  }
  if (problems.length > 0) throw new Refusal(problems);
  return { patterns, asked };
}

const PARAMETERS = ['routingKey', 'lastEventId'];

/** The warnings about unknown parameters, as other endpoints give them. */
function unknownParameters(request: FastifyRequest): string[] {
  return Object.keys(request.query as object)
    .filter((name) => !PARAMETERS.includes(name))
    .map(
      (name) =>
        `${JSON.stringify(name)} is not a parameter here and was ignored. Parameters: ${PARAMETERS.join(', ')}.`,
    );
}

/** Where a listener starts: now, with the oldest stored message, or where it asks to. */
async function startOf({ stream }: Service, org: number, asked: Position | undefined): Promise<Start> {
  if (asked !== undefined && !(asked.number === 0 && asked.epoch === undefined)) return stream.startAt(org, asked);
  const { epoch, newest, floor } = await stream.positionsOf(org);
  return { epoch, after: asked === undefined ? newest : floor };
}

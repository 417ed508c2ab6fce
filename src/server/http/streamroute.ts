import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_PREFIX } from '../../catalog/catalog.ts';
import { type Problem, Refusal } from '../../catalog/failures.ts';
import { POSITION_HEADER, STREAM_PATH } from '../../catalog/stream/messages.ts';
import { matchPatterns, patternProblem } from '../../catalog/stream/patterns.ts';
import { nowOf, type Organization, type Service } from '../service.ts';
import {
  LISTENER_TIMES,
  ListenerSocket,
  type ListenerTimes,
  type Listening,
  serveListener,
} from '../stream/listener.ts';
import { formatFor } from '../stream/pages.ts';
import type { Grant } from '../tokens/tokens.ts';
import { actorOf } from './audited.ts';
import { authenticate, type Gate, identifyOrganization, requireScope } from './identity.ts';
import type { AccessLog } from './logging.ts';

const SCOPE = 'model:read';

/** Idle sockets are probed after so long, so that peers that vanished are found. */
const PROBE_MS = 30_000;

export interface StreamRouteOptions {
  readonly log: Pick<AccessLog, 'failed'>;
  readonly times?: Partial<ListenerTimes>;
}

/** `GET /api/v1/stream`: the messages of one organization, from now on or from a position (D42). */
export function mountStream(app: FastifyInstance, gate: Gate, options: StreamRouteOptions): void {
  const { service } = gate;
  const times = { ...LISTENER_TIMES, ...options.times };
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
      const { organization, grant } = await identify(gate, request);
      const { patterns, requested } = readQuery(request);
      const start = await startOf(service, requested);
      service.reads.admit();
      const heard = { messages: 0 };
      const note = (operation: string, count?: number) =>
        service.reads.note({
          org: organization.org,
          at: nowOf(service),
          actor: actorOf(request, grant),
          operation,
          ...(count !== undefined && { count }),
        });
      note('stream.listen');
      const closing = new AbortController();
      open.add(closing);
      // Either may have happened while the token was looked up.
      if (ending || request.raw.destroyed) closing.abort();
      const socket = openAnswer(request, reply, closing, start.after);
      const listening: Listening = {
        stream: service.stream,
        organization,
        matches: matchPatterns(patterns),
        sent: (messages) => {
          heard.messages += messages;
        },
        format: formatFor(request.headers.accept),
        socket,
        times,
        now: () => nowOf(service),
        check: tokenCheck(gate, request, grant, times.checkMs),
      };
      service.stream.listeners++;
      socket.write(listening.format.opening(start.after, unknownParameters(request)));
      try {
        await serveListener(listening, closing.signal, start);
        socket.end();
      } catch (error) {
        if (!(error instanceof Refusal)) options.log.failed(request.id, error);
        socket.end(error instanceof Refusal ? listening.format.ending(error.message) : '');
      } finally {
        service.stream.listeners--;
        note('stream.end', heard.messages);
        open.delete(closing);
      }
    },
  });
}

async function identify(gate: Gate, request: FastifyRequest): Promise<{ grant: Grant; organization: Organization }> {
  const grant = await authenticate(gate, request);
  const organization = await identifyOrganization(gate.service, grant, one(request.headers['organization-id']));
  requireScope(grant, SCOPE);
  return { grant, organization };
}

/** A check of the token that asks the store at most every `checkMs`, and the clock each time. */
function tokenCheck(gate: Gate, request: FastifyRequest, grant: Grant, checkMs: number): () => Promise<void> {
  let known = grant;
  let checkedAt = performance.now();
  return async () => {
    const expired = known.expiresAt !== null && Date.parse(known.expiresAt) <= gate.service.clock();
    if (!expired && performance.now() - checkedAt < checkMs) return;
    known = (await identify(gate, request)).grant;
    checkedAt = performance.now();
  };
}

/** Starts the answer, outside of what the framework does with one: it has no end of its own. */
function openAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  closing: AbortController,
  position: number,
): ListenerSocket {
  reply.hijack();
  const response = reply.raw;
  response.once('close', () => closing.abort());
  // Silence and slow readers are dealt with by the listener's own times.
  request.raw.socket.setTimeout(0);
  request.raw.socket.setKeepAlive(true, PROBE_MS);
  const format = formatFor(request.headers.accept);
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': format.type,
    // Proxies that collect an answer before they pass it on would hold messages back.
    'x-accel-buffering': 'no',
    [POSITION_HEADER]: String(position),
  });
  response.flushHeaders();
  return new ListenerSocket(response);
}

function readQuery(request: FastifyRequest): { patterns: readonly string[]; requested: number | undefined } {
  const query = request.query as Record<string, string | string[]>;
  const patterns = [query.routingKey ?? []].flat().filter((pattern) => pattern.trim() !== '');
  const problems: Problem[] = patterns.flatMap((pattern) => {
    const description = patternProblem(pattern);
    return description === undefined ? [] : [{ code: 'stream.routing_key', source: 'routingKey', description }];
  });
  const header = one(request.headers['last-event-id'])?.trim() || undefined;
  const sent = header ?? ([query.lastEventId ?? []].flat().at(-1)?.trim() || undefined);
  const requested = sent === undefined ? undefined : Number(sent);
  if (sent !== undefined && !(/^\d{1,16}$/.test(sent) && Number.isSafeInteger(requested))) {
    const description = 'The position must be the id of a message, or 0 for the oldest that is kept.';
    const source = header === undefined ? 'lastEventId' : 'Last-Event-ID';
    problems.push({ code: 'stream.position', source, description });
  }
  if (problems.length > 0) throw new Refusal(problems);
  return { patterns, requested };
}

const PARAMETERS = ['routingKey', 'lastEventId'];

/** What is told of parameters that are none, as other endpoints warn of them. */
function unknownParameters(request: FastifyRequest): string[] {
  return Object.keys(request.query as object)
    .filter((name) => !PARAMETERS.includes(name))
    .map(
      (name) =>
        `${JSON.stringify(name)} is not a parameter here and was ignored. Parameters: ${PARAMETERS.join(', ')}.`,
    );
}

/**
 * Where a listener starts. A position that is no longer kept, or that this stream never reached, is told as
 * `requested`: the listener has missed messages, and hears so first.
 */
async function startOf(
  { stream }: Service,
  requested: number | undefined,
): Promise<{ after: number; requested?: number }> {
  const position = await stream.position();
  if (requested === undefined) return { after: position };
  if (requested === 0) return { after: stream.floor };
  if (requested > position) return { after: position, requested };
  return requested < stream.floor ? { after: stream.floor, requested } : { after: requested };
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

import type { FastifyRequest } from 'fastify';
import { type Level, pino } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Where the server logs its requests; never tokens, bodies or query strings, at any level (contract §6). */
export interface AccessLog {
  answered(entry: AnsweredRequest): void;
  /** A fault of the server: at a request, or in the background for one. */
  failed(where: FaultPlace, error: unknown): void;
}

/** Where something failed, as far as it is known. */
export interface FaultPlace {
  readonly requestId?: string | undefined;
  readonly method?: string;
  /** Route template. */
  readonly route?: string;
  /** A part of the server that works in the background. */
  readonly part?: string;
}

/** A request whose response is complete. */
export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** Route template, so that ids and queries stay out. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
  /** Of a refusal (401, 403, 429): where it came from, and the id of the token or client that was named. */
  readonly address?: string;
  readonly token?: string;
  readonly client?: string;
}

/** The server's log: JSON lines on the stream given. Requests at `info`, health checks at `debug`, faults at `error`. */
export interface ServerLog extends AccessLog {
  note(level: Exclude<LogLevel, 'silent'>, message: string, facts?: Readonly<Record<string, string | number>>): void;
}

/** A request as the log names it; `unknown` where no route matched. */
export function placeOf({ id, method, routeOptions }: FastifyRequest) {
  return { requestId: id, method, route: routeOptions.url ?? 'unknown' };
}

/** Opens the log; `level` is the lowest level that is written, `worker` the process of a server of several. */
export function openLog(
  level: LogLevel,
  stream: { readonly write: (text: string) => unknown },
  worker?: number,
): ServerLog {
  const logger = pino(
    { level, base: worker === undefined ? null : { worker }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (text: string) => void stream.write(text) },
  );
  const levelOf = (route: string, status: number): Level => {
    if (status >= 500) return 'error';
    return route === '/healthz' || route === '/readyz' ? 'debug' : 'info';
  };
  return {
    note: (at, message, facts = {}) => logger[at](facts, message),
    answered: (entry) => logger[levelOf(entry.route, entry.status)](entry, 'answered'),
    failed: (where, error) =>
      logger.error(
        { ...where, fault: faultOf(error) },
        where.part === undefined ? 'a request failed' : 'work in the background failed',
      ),
  };
}

/** Name and stack of a fault. Its message is left out: a database quotes values in its messages. */
function faultOf(error: unknown) {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code } = error as { code?: unknown };
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  return {
    name: error.name,
    ...(typeof code === 'string' && { code }),
    at: frames.slice(0, 5).map((line) => line.trim()),
  };
}

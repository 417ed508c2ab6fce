import type { FastifyInstance } from 'fastify';

/** Where the server writes about its work; never tokens, bodies or query strings, at any level (contract §6). */
export interface AccessLog {
  answered(entry: AnsweredRequest): void;
  failed(requestId: string, error: unknown): void;
}

export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** Route template, so that ids and queries stay out. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
}

export function logAnswers(app: FastifyInstance, log: AccessLog): void {
  app.addHook('onResponse', (request, reply, done) => {
    log.answered({
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      status: reply.statusCode,
      milliseconds: Math.round(reply.elapsedTime * 10) / 10,
    });
    done();
  });
}

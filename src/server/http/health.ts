import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Problem } from '../../catalog/failures.ts';
import type { Service } from '../service.ts';
import { SchemaMismatch } from '../store/schema/faults.ts';
import type { Draining } from './draining.ts';
import { failureBody } from './envelope.ts';

/** Milliseconds that the store has to respond: whoever polls gets an answer within 2 s, whatever hangs (contract §6). */
const PATIENCE_MS = 1500;

/**
 * `/healthz`: the process runs. `/readyz`: it is to get requests, otherwise 503: the store responds, its tables are those
 * of this process, the audit log can be written, and the server is not about to end.
 */
export function mountHealth(app: FastifyInstance, service: Service, draining: Pick<Draining, 'hasBegun'>): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const reason = draining.hasBegun ? 'The server is stopping.' : await whyNotReady(service);
    if (reason === undefined) return { status: 'ready' };
    const problem: Problem = { code: 'server.unavailable', source: null, description: reason };
    reply.code(503).header('retry-after', '1');
    return { status: 'not ready', reason, ...failureBody(503, [problem]) };
  });
}

/** Undefined when the server is ready. */
async function whyNotReady({ store, reads }: Service): Promise<string | undefined> {
  const late = new AbortController();
  const silence = sleep(PATIENCE_MS, 'The database does not respond.', { signal: late.signal });
  const answer = store.ping().then(
    () => (reads.isWritable ? undefined : 'The audit log cannot be written.'),
    (error: unknown) => (error instanceof SchemaMismatch ? error.message : 'The database is unavailable.'),
  );
  try {
    return await Promise.race([answer, silence]);
  } finally {
    silence.catch(() => {});
    late.abort();
  }
}

import type { FastifyInstance } from 'fastify';
import type { Service } from '../service.ts';
import { SchemaMismatch } from '../store/schema/faults.ts';

/** Entries cannot be written, so nothing is read (contract §8). */
class AuditUnavailable extends Error {
  override message = 'The audit log cannot be written.';
}

/**
 * `/healthz`: the process runs. `/readyz`: the store responds too, its tables are those of this process, and the audit log
 * can be written, otherwise 503.
 */
export function mountHealth(app: FastifyInstance, service: Service): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    try {
      await service.store.ping();
      if (!service.reads.isWritable) throw new AuditUnavailable();
      return { status: 'ready' };
    } catch (error) {
      const reason =
        error instanceof SchemaMismatch || error instanceof AuditUnavailable ? { reason: error.message } : {};
      return reply.code(503).send({ status: 'not ready', ...reason });
    }
  });
}

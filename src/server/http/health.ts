import type { FastifyInstance } from 'fastify';
import type { Service } from '../service.ts';
import { SchemaMismatch } from '../store/schema/faults.ts';

/** `/healthz`: the process runs. `/readyz`: the store responds too and its tables are those of this process, otherwise 503. */
export function mountHealth(app: FastifyInstance, service: Service): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    try {
      await service.store.ping();
      return { status: 'ready' };
    } catch (error) {
      const reason = error instanceof SchemaMismatch ? { reason: error.message } : {};
      return reply.code(503).send({ status: 'not ready', ...reason });
    }
  });
}

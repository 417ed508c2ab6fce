import type { FastifyInstance } from 'fastify';
import type { Service } from '../service.ts';

/** `/healthz`: the process runs. `/readyz`: the store answers too, otherwise 503. */
export function mountHealth(app: FastifyInstance, service: Service): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    try {
      await service.store.ping();
      return { status: 'ready' };
    } catch {
      return reply.code(503).send({ status: 'not ready' });
    }
  });
}

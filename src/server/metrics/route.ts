import type { FastifyInstance } from 'fastify';
import type { Service } from '../service.ts';
import type { Recorder } from './recorder.ts';

/** `GET /metrics` (Prometheus text), and the hook that counts every request of this app. */
export function mountMetrics(app: FastifyInstance, service: Service): void {
  let inFlight = 0;
  let opened: Promise<Recorder> | undefined;
  const recorder = () => {
    opened ??= import('./recorder.ts').then(({ openRecorder }) =>
      openRecorder({ inFlight: () => inFlight, store: () => service.store.counts }),
    );
    return opened;
  };

  app.addHook('onRequest', async (request, reply) => {
    const began = performance.now();
    let finished = false;
    inFlight++;
    reply.raw.once('finish', () => {
      finished = true;
    });
    // A caller that goes away gets no `finish`, but every answer closes.
    reply.raw.once('close', () => {
      inFlight--;
      const answered = {
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        status: finished ? reply.statusCode : ('aborted' as const),
        seconds: (performance.now() - began) / 1000,
      };
      // A recorder that cannot be opened is told by GET /metrics.
      recorder().then(
        (open) => open.record(answered),
        () => {},
      );
    });
  });

  app.get('/metrics', async (_request, reply) => {
    const { text, type } = await (await recorder()).report();
    return reply.type(type).send(text);
  });
}

import type { FastifyInstance } from 'fastify';
import type { AccessLog } from '../http/logging.ts';
import type { Store } from '../store/store.ts';
import type { Reading, Recorder } from './recorder.ts';
import { RequestTimes } from './requesttimes.ts';

/** A server that listens begins to watch its process when it has been up for so long, so that starting stays quick. */
const SETTLED_MS = 1000;

/**
 * `GET /metrics` (Prometheus text) with what `others` tell, and the hook that counts every request of this app, and logs
 * it when it is answered.
 */
export function mountMetrics(
  app: FastifyInstance,
  store: Pick<Store, 'counts'>,
  others: readonly Reading[] = [],
  log?: Pick<AccessLog, 'answered'>,
): void {
  const requests = new RequestTimes();
  let inFlight = 0;
  let opened: Promise<Recorder> | undefined;
  const recorder = () => {
    opened ??= import('./recorder.ts').then(({ openRecorder }) =>
      openRecorder(requests, { inFlight: () => inFlight, store: () => store.counts, others }),
    );
    return opened;
  };

  app.addHook('onRequest', (request, reply, done) => {
    const began = performance.now();
    let finished = false;
    inFlight++;
    // Both come once at most, and `once` would cost more.
    reply.raw.on('finish', () => {
      finished = true;
    });
    // A caller that goes away gets no `finish`, but every answer closes.
    reply.raw.on('close', () => {
      inFlight--;
      const { method } = request;
      const route = request.routeOptions.url ?? 'unknown';
      const status = reply.statusCode;
      const milliseconds = performance.now() - began;
      requests.record({ method, route, status: finished ? status : 'aborted', seconds: milliseconds / 1000 });
      if (!finished) return;
      log?.answered({ requestId: request.id, method, route, status, milliseconds: Math.round(milliseconds * 10) / 10 });
    });
    done();
  });

  let settling: NodeJS.Timeout | undefined;
  app.addHook('onListen', async () => {
    settling = setTimeout(() => recorder().then((open) => open.watch(), ignore), SETTLED_MS).unref();
  });
  app.addHook('onClose', async () => clearTimeout(settling));

  app.get('/metrics', async (_request, reply) => {
    const { text, type } = await (await recorder()).report();
    return reply.type(type).send(text);
  });
}

/** A recorder that cannot be opened is told by GET /metrics. */
function ignore(): void {}

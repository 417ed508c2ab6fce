import type { FastifyInstance } from 'fastify';
import type { Store } from '../store/store.ts';
import type { Reading, Recorder } from './recorder.ts';
import { RequestTimes } from './requesttimes.ts';

/** A server that listens begins to watch its process when it has been up for so long, so that starting stays quick. */
const SETTLED_MS = 1000;

/** `GET /metrics` (Prometheus text) with what `others` tell, and the hook that counts every request of this app. */
export function mountMetrics(
  app: FastifyInstance,
  store: Pick<Store, 'counts'>,
  others: readonly Reading[] = [],
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
    reply.raw.once('finish', () => {
      finished = true;
    });
    // A caller that goes away gets no `finish`, but every answer closes.
    reply.raw.once('close', () => {
      inFlight--;
      requests.record({
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        status: finished ? reply.statusCode : 'aborted',
        seconds: (performance.now() - began) / 1000,
      });
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

import type { FastifyInstance, FastifyReply } from 'fastify';

/** The work on a request took too long. */
export class WorkTimeout extends Error {
  readonly code = 'WORK_TIMEOUT';

  constructor() {
    super('The work on a request took too long.');
  }
}

/**
 * Ends requests whose work takes longer than they may take. All may take the same time, so they are late in the order
 * in which they came, and one timer does for all: one for each request would cost every request more than its look-up.
 */
class Deadlines {
  private readonly milliseconds: number;
  /** Requests that are not over, and when they will be late. */
  private readonly open = new Map<FastifyReply, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number) {
    this.milliseconds = milliseconds;
  }

  begin(reply: FastifyReply): void {
    this.open.set(reply, performance.now() + this.milliseconds);
    this.timer ??= this.wait(this.milliseconds);
  }

  end(reply: FastifyReply): void {
    this.open.delete(reply);
  }

  private wait(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.look(), milliseconds).unref();
  }

  private look(): void {
    this.timer = undefined;
    for (const [reply, late] of this.open) {
      const left = late - performance.now();
      if (left > 0) {
        this.timer = this.wait(Math.ceil(left));
        return;
      }
      this.open.delete(reply);
      refuseLate(reply);
    }
  }
}

function refuseLate(reply: FastifyReply): void {
  // What a body that has come whole asks for may be written in this moment: it is told when that is known.
  if (reply.sent || reply.request.raw.closed) return;
  // Part of the answer is on its way: nothing can be told in its place.
  if (reply.raw.headersSent) reply.raw.destroy(new WorkTimeout());
  else reply.send(new WorkTimeout());
}

/** Limits the work on each request of an app, the arrival of its body included. */
export function limitWork(app: FastifyInstance, milliseconds: number): void {
  const deadlines = new Deadlines(milliseconds);
  app.addHook('onRequest', (_request, reply, done) => {
    deadlines.begin(reply);
    reply.raw.on('close', () => deadlines.end(reply));
    done();
  });
}

import type { Socket } from 'node:net';
import { ImageTurns } from '../budgets/imageturns.ts';
import { OverBudget } from '../budgets/overbudget.ts';
import type { App, AppOptions, ProcessOptions } from '../http/app.ts';
import { rateLimitOfShares, type TakenShare } from '../http/ratelimit.ts';
import type { ToldMetrics } from '../metrics/route.ts';
import type { Service } from '../service.ts';
import type { SignIn } from '../signin/signin.ts';
import { openSqliteReader } from '../store/sqlite/reader.ts';
import { HandOverToWriter } from './handingover.ts';
import type { Link } from './link.ts';
import type { Member, Seat } from './member.ts';
import { Readers } from './readers.ts';
import { WriterLink } from './writerlink.ts';

/** A connection that a process is given: its number, and whether there is room for it. */
export interface GivenConnection {
  readonly number: number;
  readonly admitted: boolean;
}

/** The process that a supervisor has started, which `link` leads to. */
export class Worker implements Member {
  readonly folder: Member['folder'];
  private readonly writer: WriterLink | undefined;
  private readers: Readers | undefined;
  private app: App | undefined;
  private readonly refused = new WeakSet<Socket>();

  constructor(
    readonly seat: Seat,
    private readonly link: Link,
  ) {
    const { role, count, number } = seat;
    const writer = role === 'reader' ? new WriterLink(seat.writerPath) : undefined;
    this.writer = writer;
    this.folder = {
      serving: writer === undefined,
      ...(writer && {
        reading: {
          openStore: async (path) => {
            await writer.reached;
            return openSqliteReader(path, (rows) => writer.appendLogs(rows));
          },
          saveUses: (uses) => writer.ask('uses', uses),
        },
      }),
      budgetPart: {
        answers: answersOf(seat),
        ...(role === 'peer' && { images: new SharedImageTurns(link) }),
        decide: (socket) => (this.readers?.has(socket) ? 'serve' : this.refused.has(socket) ? 'refuse' : 'count'),
        tellsStore: number === 1 || count === 1,
      },
    };
  }

  appOptions({ rateLimit }: Pick<AppOptions, 'rateLimit'>, signIn: SignIn): ProcessOptions {
    const { writer, link, seat } = this;
    return {
      attempts: seat.role === 'peer' ? 1 / seat.count : 1,
      ofOthers: (own) => link.ask<ToldMetrics[]>('metrics', own),
      ...(writer && {
        handOver: new HandOverToWriter(seat.writerPath, signIn, () => this.app?.draining.hasBegun ?? false),
        ...(rateLimit > 0 && {
          limit: rateLimitOfShares(rateLimit, (caller) => writer.ask<TakenShare>('rate', caller)),
        }),
      }),
      ending: () => this.ending(),
    };
  }

  async listen(app: App, service: Service, signIn: SignIn): Promise<string> {
    this.app = app;
    await app.ready();
    // It never listens itself; so it begins to watch over the times of its connections.
    app.server.emit('listening');
    this.link.on('metrics', () => app.tellMetrics());
    this.link.on('connection', (given: GivenConnection, socket) => {
      this.take(app, given, socket);
    });
    if (this.seat.role === 'writer') {
      this.readers = new Readers(app, service, signIn);
      await this.readers.listen(this.seat.writerPath);
    }
    const url = await this.link.ask<string>('listen');
    this.link.tell('ready');
    return url;
  }

  async close(): Promise<void> {
    this.writer?.close();
  }

  private async ending(): Promise<void> {
    // Until then they may hand on what comes on their connections.
    await this.readers?.close();
    await this.app?.draining.emptied();
  }

  private take({ server }: App, { number, admitted }: GivenConnection, socket: Socket | undefined): void {
    this.link.tell('taken', number);
    // It was closed on its way here.
    if (socket === undefined) return void this.link.tell('closed', number);
    if (!admitted) this.refused.add(socket);
    // As in a connection that the server has accepted: who has sent a request may be done with sending.
    socket.allowHalfOpen = true;
    socket.once('close', () => this.link.tell('closed', number));
    server.emit('connection', socket);
  }
}

/** Of a reader it is little: what is beyond it the writer answers, which has the rest. */
function answersOf({ role, count }: Seat): number {
  if (role === 'peer') return 1 / count;
  const ofReader = 1 / (2 * count);
  return role === 'reader' ? ofReader : 1 - (count - 1) * ofReader;
}

/** The turns of images of all processes, which their supervisor gives out. */
class SharedImageTurns extends ImageTurns {
  constructor(private readonly link: Link) {
    super(Number.MAX_SAFE_INTEGER);
  }

  override async run<T>(org: number, work: () => Promise<T>): Promise<T> {
    const turn = await this.link.ask<number | undefined>('beginImage', org);
    if (turn === undefined) throw new OverBudget('images');
    this.working.add(org, 1);
    try {
      return await work();
    } finally {
      this.working.add(org, -1);
      this.link.tell('endImage', turn);
    }
  }
}

import { failureOf } from '../errors/report.ts';
import { processStreams } from '../terminal/streams.ts';
import { serverFailureOf } from './serverfailure.ts';

type ServeOptions = import('../../server/serve.ts').ServeOptions;
type RunningServer = import('../../server/serve.ts').RunningServer;
type LogLevel = import('../../server/log.ts').LogLevel;
type Seat = import('../../server/workers/member.ts').Seat;
type DemoSize = Parameters<typeof import('../../demo/start.ts').demoOf>[0];

/** What a process of a server of several is told when it starts; it can be sent as JSON. */
export interface WorkerSettings {
  readonly options: Omit<ServeOptions, 'log' | 'demo' | 'member'>;
  readonly demo?: DemoSize;
  readonly logLevel: LogLevel;
}

// They go to all processes of a terminal or a service: it is the supervisor that says when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
// Without the supervisor nobody would end this process, or start another one in its place.
process.on('disconnect', () => process.exit());

void beginWork();

async function beginWork(): Promise<void> {
  const [{ Link, processPort }, { Worker }] = await Promise.all([
    import('../../server/workers/link.ts'),
    import('../../server/workers/worker.ts'),
  ]);
  const link = new Link(processPort(process));
  let running: RunningServer | undefined;
  const start = async (seat: Seat, { options, demo, logLevel }: WorkerSettings) => {
    const [{ serve }, { openLog }] = await Promise.all([
      import('../../server/serve.ts'),
      import('../../server/log.ts'),
    ]);
    const log = openLog(logLevel, processStreams().stderr, seat.number);
    process.once('uncaughtException', (error) => {
      log.failed({ part: 'worker' }, error);
      process.exit(1);
    });
    const filling = demo === undefined ? {} : { demo: (await import('../../demo/start.ts')).demoOf(demo) };
    return serve({ ...options, ...filling, log, member: new Worker(seat, link) });
  };
  link
    .on('start', async ({ seat, settings }: { readonly seat: Seat; readonly settings: WorkerSettings }) => {
      try {
        running = await start(seat, settings);
        return running.demo;
      } catch (error) {
        setImmediate(() => process.disconnect());
        throw failureOf(serverFailureOf(error));
      }
    })
    .on('drain', () => running?.drain())
    .on('end', async () => {
      await running?.close();
      process.disconnect();
    });
}

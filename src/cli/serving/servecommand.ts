import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { platform } from 'node:process';
import { EXIT } from '../../catalog/failures.ts';
import type { Environment } from '../../core/environment.ts';
import { type Failure, usageFailure } from '../../core/failure.ts';
import { settingsCommand } from '../../shells/settings.ts';
import { failureOf } from '../errors/report.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, isOn, textFlag, textFlags, wholeNumber } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { budgetFlags, readBudgets } from './budgetflags.ts';
import { readConfiguration } from './configfile.ts';
import { credentialsFlag } from './importcommand.ts';
import { dataFlags, dataLocation, maxTextFlag, maxTextOf } from './servercommand.ts';
import { serverFailureOf } from './serverfailure.ts';
import { readSignInFlags, signInFlags } from './signinflags.ts';
import { announceServer } from './stopping.ts';

const { list, text, toggle, whole } = flagGroup();

type ServeOptions = Omit<import('../../server/serve.ts').ServeOptions, 'log' | 'demo'>;
type RunningServer = import('../../server/serve.ts').RunningServer;
type ServerLog = import('../../server/log.ts').ServerLog;
type LogLevel = import('../../server/log.ts').LogLevel;
type DemoSize = Parameters<typeof import('../../demo/start.ts').demoOf>[0];

/** Milliseconds that a server may take to finish what it does and to close its stores, beside its drain time. */
const ENDING_MS = 25_000;

/** `molar serve`: starts the server, says where it listens, and ends it on SIGTERM or SIGINT with 0. */
export abstract class ServeCommand extends MolarCommand {
  static override flags = {
    config: text(
      'FILE',
      'Read settings from this file (TOML; JSON if its name ends in .json): a key for each flag here. Flags override it',
    ),
    host: text('ADDRESS', 'Address to listen on; 127.0.0.1 when not given, and for localhost'),
    workers: text(
      'N',
      'Processes that are one server: 1 when not given, auto for as many as there are cores, 16 at most',
    ),
    port: whole('N', 'Port to listen on, 4010 when not given; 0 takes a free one'),
    ...dataFlags,
    import: list('FILE', 'Import this NDJSON file before listening; may be repeated'),
    ...credentialsFlag,
    demo: text(undefined, 'Fill an empty folder with a synthetic practice', { options: ['small', 'medium', 'large'] }),
    'request-timeout': whole('S', 'Seconds a request may take, 60 when not given'),
    'drain-time': whole(
      'S',
      'Seconds for which the server goes on serving after SIGTERM while /readyz is 503; 5 with --behind-proxy when not given, else 0',
    ),
    'max-document-size': whole('MB', 'Largest document in MiB, 50 when not given'),
    ...maxTextFlag,
    'rate-limit': whole('N', 'Requests a second for each organization and token, 100 when not given; 0 for no limit'),
    ...budgetFlags,
    'aging-page-limit': whole('N', 'Transactions per page of the aging report, 1000 when not given'),
    'require-location': toggle('Refuse reads without a location filter, as announced for a later version'),
    'file-retention': whole(
      'DAYS',
      'Days that files of deleted documents are kept for a recovery of the database, 7 with --database when not given, else 0',
    ),
    'stream-retention': whole('DAYS', 'Days that stream messages are stored for listeners, 7 when not given'),
    'audit-retention': whole('DAYS', 'Days that audit log entries are stored, 2192 (six years) when not given'),
    'audit-key': text(
      'FILE',
      'Ed25519 key that signs checkpoints of the audit log, made when missing; audit.key in the data folder when not given, with --database in the config folder',
    ),
    'audit-checkpoints': text(
      'TARGET',
      'Also ship checkpoints: append them to a file, POST them to https://…, or send them to syslog or syslog://HOST:PORT',
    ),
    audit: text(
      undefined,
      'strict: a read is in the audit log before it is answered; buffered: within 250 ms. strict when not given',
      { options: ['strict', 'buffered'] },
    ),
    amqp: text(
      'URL',
      'Relay the stream to a broker (amqps://user@host/vhost); ?exchange=NAME for another exchange than molar.stream; MOLAR_AMQP_PASSWORD holds the password',
    ),
    'tls-cert': text('FILE', 'Serve https with this certificate (PEM)'),
    'tls-key': text('FILE', 'Key of the certificate (PEM)'),
    ...signInFlags,
    'behind-proxy': toggle('A proxy in front terminates TLS: trust the X-Forwarded headers that it sets or adds to'),
    'log-level': text(undefined, 'How much to log on standard error, info when not given', {
      options: ['debug', 'info', 'warn', 'error', 'silent'],
    }),
    json: toggle('Say where the server listens as one line of JSON'),
  };

  override async run(): Promise<void> {
    const { flags, env, locate } = await this.settings();
    const { streams, signal, allowEnding, setExitCode } = this.context;
    const drainMs = readDrainTime(flags);
    const running = await this.start(flags, env).catch((error: unknown) => {
      throw locate(serverFailureOf(error));
    });
    allowEnding(drainMs + ENDING_MS);
    const line = isOn(flags, 'json')
      ? JSON.stringify({ event: 'listening', url: running.url, pid: process.pid })
      : `molar is listening on ${running.url}`;
    await streams.stdout.write(`${line}\n`);
    if (running.demo !== undefined) {
      const { organization, settings } = running.demo;
      await this.note(
        `Demo organization ${organization}. To connect a shell: ${settingsCommand(settings, this.context.shell)}`,
      );
    }
    if (!signal.aborted) await once(signal, 'abort');
    // Whoever pressed Ctrl-C waits at the terminal, and no proxy has to learn of it.
    await running.close((signal.reason as Failure).code === 'run.terminated' ? drainMs : 0);
    setExitCode(EXIT.done);
  }

  /** The same server, which `molar server stop` finds by its folder until it has ended. */
  private async announced(running: RunningServer, isAlone: boolean, log: ServerLog): Promise<RunningServer> {
    const { clock, terminate } = this.context;
    try {
      const forget = await announceServer(running.path, lockOwner(clock), isAlone, terminate);
      return { ...running, close: (drainMs) => running.close(drainMs).finally(forget) };
    } catch (cause) {
      // What it serves does not depend on it.
      log.note('warn', 'molar server stop will not find this server', { reason: failureOf(cause).message });
      return running;
    }
  }

  /** Flags and environment, with what `--config` adds to them. */
  private async settings() {
    const { flags } = await this.input();
    const { env } = this.context;
    const path = textFlag(flags, 'config');
    if (path === undefined) return { flags, env, locate: (error: unknown) => error };
    const { flags: configured, secrets, locate } = await readConfiguration(path, this.ctor.flags, flags, env);
    // The libraries for databases, object storage and traces read their secrets there.
    Object.assign(process.env, secrets);
    return { flags: { ...configured, ...flags }, env: { ...env, ...secrets }, locate };
  }

  private async start(flags: FlagValues, env: Environment): Promise<RunningServer> {
    const options = readServeFlags(flags, env);
    const { openLog } = await import('../../server/log.ts');
    const logLevel = (textFlag(flags, 'log-level') ?? 'info') as LogLevel;
    const log = openLog(logLevel, this.context.streams.stderr);
    const size = textFlag(flags, 'demo') as DemoSize | undefined;
    const workers = readWorkers(textFlag(flags, 'workers'));
    const open = async () => {
      if (workers > 1) {
        const { serveTogether } = await import('./workers.ts');
        return serveTogether({ ...options, workers, log }, { logLevel, ...(size && { demo: size }) });
      }
      const { serve } = await import('../../server/serve.ts');
      if (size === undefined) return serve({ ...options, log });
      const { demoOf } = await import('../../demo/start.ts');
      return serve({ ...options, log, demo: demoOf(size) });
    };
    return this.announced(await open(), options.database === undefined, log);
  }
}

function readServeFlags(flags: FlagValues, env: Environment): ServeOptions {
  const whole = (name: string, min: number, max: number, otherwise: number) =>
    wholeNumber(flags, name, min, max) ?? otherwise;
  const cert = textFlag(flags, 'tls-cert');
  const key = textFlag(flags, 'tls-key');
  const clientCa = textFlag(flags, 'tls-client-ca');
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? '--tls-cert' : '--tls-key';
    throw usageFailure(`--tls-cert and --tls-key go together; ${missing} is missing.`, { source: missing });
  }
  const checkpoints = textFlag(flags, 'audit-checkpoints');
  // Its default follows from the kind of store, and is the server's to know.
  const fileRetentionDays = wholeNumber(flags, 'file-retention', 0, 3650);
  const amqp = withPassword(textFlag(flags, 'amqp'), env.MOLAR_AMQP_PASSWORD);
  return {
    host: textFlag(flags, 'host') ?? '127.0.0.1',
    port: whole('port', 0, 65_535, 4010),
    ...dataLocation(flags, env),
    ...(checkpoints !== undefined && { auditCheckpoints: checkpoints }),
    imports: textFlags(flags, 'import'),
    allowCredentials: isOn(flags, 'allow-credentials'),
    requestTimeoutSeconds: whole('request-timeout', 1, 3600, 60),
    maxDocumentMegabytes: whole('max-document-size', 1, 1024, 50),
    maxText: maxTextOf(flags),
    ...(cert !== undefined && key !== undefined && { tls: { cert, key, ...(clientCa !== undefined && { clientCa }) } }),
    behindProxy: isOn(flags, 'behind-proxy'),
    signIn: readSignInFlags(flags),
    rateLimit: whole('rate-limit', 0, 1_000_000, 100),
    budgets: readBudgets(flags),
    requireLocation: isOn(flags, 'require-location'),
    agingPageLimit: whole('aging-page-limit', 1, 1_000_000, 1000),
    ...(fileRetentionDays !== undefined && { fileRetentionDays }),
    streamRetentionDays: whole('stream-retention', 1, 3650, 7),
    auditRetentionDays: whole('audit-retention', 1, 36_500, 2192),
    audit: textFlag(flags, 'audit') === 'buffered' ? 'buffered' : 'strict',
    ...(amqp !== undefined && { amqp }),
  };
}

/** Most processes that are one server. */
const MAX_WORKERS = 16;

/** How many processes the server is. */
function readWorkers(text: string | undefined): number {
  if (text === undefined) return 1;
  if (text === 'auto') return platform === 'win32' ? 1 : Math.min(MAX_WORKERS, availableParallelism());
  const workers = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (workers < 1 || workers > MAX_WORKERS) {
    throw usageFailure(`--workers takes a whole number from 1 to ${MAX_WORKERS}, or auto.`, { source: '--workers' });
  }
  if (workers > 1 && platform === 'win32') {
    throw usageFailure('On Windows a server is one process: --workers takes 1.', { source: '--workers' });
  }
  return workers;
}

/** Milliseconds for which the server goes on serving after SIGTERM. */
function readDrainTime(flags: FlagValues): number {
  return (wholeNumber(flags, 'drain-time', 0, 300) ?? (isOn(flags, 'behind-proxy') ? 5 : 0)) * 1000;
}

/** The address of a broker with its password, which so need not stand in an argument list. */
function withPassword(address: string | undefined, password: string | undefined): string | undefined {
  if (address === undefined || !password || !URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.username === '' || url.password !== '') return address;
  url.password = password;
  return url.href;
}

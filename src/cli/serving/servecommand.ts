import { EXIT } from '../../catalog/failures.ts';
import { usageFailure } from '../../core/failure.ts';
import { serverFailureOf } from '../errors/server.ts';
import { type FlagValues, isOn, textFlag, textFlags } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { type ServerPlace, serverPlace } from './serverfolder.ts';

/** A server as this command sees it; the embedded server is loaded only when it runs. */
export interface Running {
  readonly url: string;
  readonly demo?: { readonly organization: string; readonly file: string };
  close(): Promise<void>;
}

/** What the flags of `molar serve` ask for (contract §6). */
export interface ServeRequest {
  readonly host: string;
  readonly port: number;
  readonly place: ServerPlace;
  readonly imports: readonly string[];
  readonly demo?: 'small' | 'medium' | 'large';
  readonly requestTimeoutSeconds: number;
  readonly maxDocumentMegabytes: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly behindProxy: boolean;
  readonly rateLimit: number;
  readonly requireLocation: boolean;
  readonly agingPageLimit: number;
  readonly streamRetentionDays: number;
  readonly auditRetentionDays: number;
  readonly amqp?: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

/** `molar serve`: starts the server, says where it listens, and ends it on SIGTERM or SIGINT with 0. */
export abstract class ServeCommand extends MolarCommand {
  /** Starts the embedded server. */
  protected abstract start(request: ServeRequest): Promise<Running>;

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { streams, signal, env, setExitCode } = this.context;
    const running = await this.start(readServeFlags(flags, env)).catch((error: unknown) => {
      throw serverFailureOf(error);
    });
    const line = isOn(flags, 'json')
      ? JSON.stringify({ event: 'listening', url: running.url, pid: process.pid })
      : `molar is listening on ${running.url}`;
    await streams.stdout.write(`${line}\n`);
    if (running.demo !== undefined) {
      await this.note(
        `Demo organization ${running.demo.organization}. To connect a shell: source '${running.demo.file}'`,
      );
    }
    await stopped(signal);
    await running.close();
    setExitCode(EXIT.done);
  }
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function readServeFlags(flags: FlagValues, env: Readonly<Record<string, string | undefined>>): ServeRequest {
  const cert = textFlag(flags, 'tls-cert');
  const key = textFlag(flags, 'tls-key');
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? '--tls-cert' : '--tls-key';
    throw usageFailure(`--tls-cert and --tls-key go together; ${missing} is missing.`, { source: missing });
  }
  const amqp = withPassword(textFlag(flags, 'amqp'), env.MOLAR_AMQP_PASSWORD);
  const demo = textFlag(flags, 'demo') as ServeRequest['demo'];
  return {
    host: textFlag(flags, 'host') ?? '127.0.0.1',
    port: wholeNumber(flags, 'port', 0, 65_535, 4010),
    place: serverPlace(flags, env),
    imports: textFlags(flags, 'import'),
    ...(demo !== undefined && { demo }),
    requestTimeoutSeconds: wholeNumber(flags, 'request-timeout', 1, 3600, 60),
    maxDocumentMegabytes: wholeNumber(flags, 'max-document-size', 1, 1024, 50),
    ...(cert !== undefined && key !== undefined && { tls: { cert, key } }),
    behindProxy: isOn(flags, 'behind-proxy'),
    rateLimit: wholeNumber(flags, 'rate-limit', 0, 1_000_000, 100),
    requireLocation: isOn(flags, 'require-location'),
    agingPageLimit: wholeNumber(flags, 'aging-page-limit', 1, 1_000_000, 1000),
    streamRetentionDays: wholeNumber(flags, 'stream-retention', 1, 3650, 7),
    auditRetentionDays: wholeNumber(flags, 'audit-retention', 1, 36_500, 2192),
    ...(amqp !== undefined && { amqp }),
    logLevel: (textFlag(flags, 'log-level') ?? 'info') as ServeRequest['logLevel'],
  };
}

/** The address of a broker with the password that argument lists need not show. */
function withPassword(address: string | undefined, password: string | undefined): string | undefined {
  if (address === undefined || !password || !URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.username === '' || url.password !== '') return address;
  url.password = password;
  return url.href;
}

function wholeNumber(flags: FlagValues, name: string, min: number, max: number, otherwise: number): number {
  const text = textFlag(flags, name);
  if (text === undefined) return otherwise;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw usageFailure(`--${name} must be a whole number from ${min} to ${max}.`, { source: `--${name}` });
}

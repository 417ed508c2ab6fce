import { createReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { refusal } from '../catalog/failures.ts';
import { isLoopback } from '../postgres/loopback.ts';
import type { KeeperFault } from './audit/keeper.ts';
import { type OpenFolder, type OpenOptions, openFolder } from './datafolder.ts';
import { hasImageLibrary } from './files/images.ts';
import { buildApp } from './http/app.ts';
import { readTls, reloadOnHangup, type TlsFiles } from './http/tls.ts';
import { importFile } from './import/importer.ts';
import type { ServerLog } from './log.ts';
import { collectGarbage, collectSeldom } from './memory.ts';
import type { Service } from './service.ts';
import { openSignIn, type SignInOptions } from './signin/signin.ts';
import { relayMetrics } from './stream/gauges.ts';
import { type RelayTarget, relayTarget } from './stream/relay/broker.ts';
import { Relay } from './stream/relay/relay.ts';
import { startTracing } from './tracing/start.ts';
import type { Member } from './workers/member.ts';

/** How a server is started: `OpenOptions` of its data, and how it listens. */
export interface ServeOptions extends Omit<OpenOptions, 'serving' | 'statementTimeoutMs' | 'maxDocumentBytes'> {
  readonly host: string;
  readonly port: number;
  /** A folder, or `:memory:`. */
  readonly data: string;
  /** NDJSON files to import before the server listens. */
  readonly imports: readonly string[];
  /** Takes tokens and clients from these files into data that has organizations already. */
  readonly allowCredentials: boolean;
  /** Fills the folder with a demo practice before the server listens. */
  readonly demo?: Demo;
  readonly requestTimeoutSeconds: number;
  readonly maxDocumentMegabytes: number;
  /** Paths of PEM files. */
  readonly tls?: TlsFiles;
  readonly behindProxy: boolean;
  /** Who signs in besides the holders of tokens. */
  readonly signIn?: SignInOptions;
  /** Requests a second for each organization and token; 0 limits nothing. */
  readonly rateLimit: number;
  /** A broker that receives every stream message: `amqp://` or `amqps://`, the exchange as `?exchange=NAME`. */
  readonly amqp?: string;
  readonly log: ServerLog;
  /** The place of this process in a server of several; it is the server when not given. */
  readonly member?: Member;
}

/** A demo organization, and the path, without extensions, of the files with the settings that connect a shell to it. */
export interface DemoAccess {
  readonly organization: string;
  readonly settings: string;
}

/** Fills a data folder; the function it returns writes the files of `DemoAccess` once the address is known (src/demo). */
export type Demo = (folder: OpenFolder) => Promise<(url: string) => Promise<DemoAccess>>;

/** A server that listens. */
export interface RunningServer {
  readonly url: string;
  readonly path: string;
  readonly demo?: DemoAccess;
  /** The server is not ready from now on. */
  drain(): void;
  /**
   * Ends the server. It is not ready from now on, goes on serving for `drainMs`, so that a proxy learns of it, and then
   * completes requests in progress, for 10 s at most.
   */
  close(drainMs?: number): Promise<void>;
}

/** Milliseconds that requests in progress may take when a server ends. */
const FINISH_MS = 10_000;

/** What the log says of the audit log. */
const FAULTS: Readonly<Record<KeeperFault, string>> = {
  store: 'no checkpoint could be written',
  shipping: 'checkpoints wait to be shipped',
  entries: 'entries of the audit log wait for their numbers',
};

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Opens the data folder, imports files, and listens (contract §6). The only place with a socket. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  checkBinding(options);
  const target = options.amqp === undefined ? undefined : readTarget(options.amqp);
  const { member } = options;
  const fills = member?.seat.fills ?? true;
  const imports = fills ? options.imports : [];
  const tls = options.tls && (await readTls(options.tls));
  const signIn = await openSignIn(options.signIn ?? {}, options.clock ?? Date.now, options.log);
  const endTracing = await startTracing(options.log);
  const folder = await openFolder(options.data, {
    ...options,
    serving: true,
    ...member?.folder,
    progress: ({ table, done, rows }) =>
      options.log.note('info', 'bringing records to this version', { table, done, rows }),
    maxDocumentBytes: options.maxDocumentMegabytes * 1024 * 1024,
    statementTimeoutMs: options.requestTimeoutSeconds * 1000,
    onAuditFault: (what, error) => options.log.note('warn', FAULTS[what], { reason: reasonOf(error) }),
    onImportFault: (error) => options.log.note('warn', 'an import waits to be completed', { reason: reasonOf(error) }),
  });
  let relay: Relay | undefined;
  try {
    for (const file of imports) {
      const { imported } = await importFile(folder.service, createReadStream(file), options);
      options.log.note('info', 'imported', imported);
    }
    const announceDemo = fills ? await options.demo?.(folder) : undefined;
    if (target !== undefined && member?.seat.role !== 'reader') {
      relay = await startRelay(folder.service, target, options.log);
    }
    const app = await buildApp(folder.service, {
      log: options.log,
      timeouts: { requestMs: options.requestTimeoutSeconds * 1000 },
      rateLimit: options.rateLimit,
      behindProxy: options.behindProxy,
      signIn,
      ...(tls && { tls }),
      ...(member && { process: member.appOptions(options, signIn) }),
      metrics: [...(folder.keeper?.metrics() ?? []), ...(relay ? relayMetrics(relay) : [])],
    });
    if (!hasImageLibrary())
      options.log.note('warn', 'images cannot be cropped: the optional package sharp is not installed');
    // The heap of an import is larger than any that a server needs.
    if (imports.length > 0 || announceDemo !== undefined) collectGarbage();
    collectSeldom();
    const url = member
      ? await member.listen(app, folder.service, signIn)
      : await app.listen({ host: hostOf(options), port: options.port });
    const forgetTls =
      options.tls &&
      tls &&
      reloadOnHangup(app.server, options.tls, tls, options.log, () => signIn.certificates?.endAll());
    options.log.note('info', 'listening', { url, audit: folder.service.reads.mode });
    const demo = await announceDemo?.(url);
    return {
      url,
      path: folder.path,
      ...(demo && { demo }),
      drain: () => app.draining.begin(),
      async close(drainMs = 0) {
        app.draining.begin();
        options.log.note('info', 'stopping', { drainMs });
        await sleep(drainMs);
        app.draining.closeIdle();
        const timer = setTimeout(() => app.server.closeAllConnections(), FINISH_MS);
        await app.close();
        clearTimeout(timer);
        forgetTls?.();
        await relay?.stop();
        await folder.close();
        await member?.close();
        await endTracing();
        options.log.note('info', 'stopped');
      },
    };
  } catch (error) {
    await relay?.stop();
    await folder.close();
    throw error;
  }
}

/** Where to listen. By the name, the framework would listen twice, and the second time without what guards connections. */
export function hostOf({ host }: Pick<ServeOptions, 'host'>): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}

/** Patient data is not sent over a network in the clear (contract §6). */
function checkBinding(options: ServeOptions): void {
  if (isLoopback(options.host) || options.tls !== undefined || options.behindProxy) return;
  throw refusal(
    'field.conflict',
    '--host',
    `Listening on ${options.host} requires TLS (--tls-cert and --tls-key), or --behind-proxy when a proxy in front terminates TLS.`,
  );
}

function readTarget(address: string): RelayTarget {
  const target = relayTarget(address);
  if (target !== undefined) return target;
  // The address itself is not repeated: it may hold a password.
  throw refusal(
    'field.conflict',
    '--amqp',
    '--amqp takes amqp://USER:PASSWORD@HOST:PORT/VHOST or amqps://…, with ?exchange=NAME for another exchange than molar.stream.',
  );
}

/** Relays the stream, and logs when the broker connects and fails. */
function startRelay(service: Service, target: RelayTarget, log: ServerLog): Promise<Relay> {
  const { name, exchange } = target;
  const { protocol, hostname } = new URL(target.url);
  if (protocol === 'amqp:' && !isLoopback(hostname)) {
    log.note('warn', 'stream messages go to the broker without TLS; use amqps:// unless the network is your own', {
      broker: name,
    });
  }
  return Relay.start(service, target, {
    connected: () => log.note('info', 'relaying the stream', { broker: name, exchange }),
    failed: (broker, reason) => log.note('warn', 'broker unreachable', { broker, reason }),
  });
}

import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { refusal } from '../catalog/failures.ts';
import { type OpenFolder, openFolder } from './datafolder.ts';
import { buildApp } from './http/app.ts';
import { importFile } from './import/file.ts';
import type { ServerLog } from './log.ts';
import { collectGarbage, collectSeldom } from './memory.ts';
import type { Clock, Service } from './service.ts';
import { relayReadings } from './stream/gauges.ts';
import { type RelayTarget, relayTarget } from './stream/relay/broker.ts';
import { Relay } from './stream/relay/relay.ts';

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** A folder, or `:memory:`. */
  readonly data: string;
  /** `postgres://…`: the records are there, not in the folder. */
  readonly database?: string;
  /** Where document files are: a folder, or `s3://bucket/prefix`; in the data folder when not given. */
  readonly files?: string;
  readonly imports: readonly string[];
  /** Fills the folder with a demo practice before the server listens. */
  readonly demo?: Demo;
  readonly requestTimeoutSeconds: number;
  readonly maxDocumentMegabytes: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly behindProxy: boolean;
  /** Requests a second for each organization and token; 0 limits nothing. */
  readonly rateLimit: number;
  readonly requireLocation: boolean;
  readonly agingPageLimit: number;
  /** Days that stream messages are kept. */
  readonly streamRetentionDays?: number;
  /** Days that entries of the audit log are kept. */
  readonly auditRetentionDays?: number;
  /** A broker that gets every stream message: `amqp://` or `amqps://`, the exchange as `?exchange=NAME`. */
  readonly amqp?: string;
  readonly log: ServerLog;
  readonly clock?: Clock;
}

/** A demo organization, and the file that tells a shell how to reach it. */
export interface DemoAccess {
  readonly organization: string;
  readonly file: string;
}

/** Fills a data folder; what it gives writes down how to reach the practice, once the address is known (src/demo). */
export type Demo = (folder: OpenFolder) => Promise<(url: string) => Promise<DemoAccess>>;

/** A server that listens. `close` finishes running requests, 10 s at most. */
export interface RunningServer {
  readonly url: string;
  readonly path: string;
  readonly demo?: DemoAccess;
  close(): Promise<void>;
}

const DRAIN_MS = 10_000;

/** Opens the data folder, imports what was asked for, and listens (contract §6). The only place with a socket. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  checkBinding(options);
  const target = options.amqp === undefined ? undefined : readTarget(options.amqp);
  const tls = options.tls && { cert: await readFile(options.tls.cert), key: await readFile(options.tls.key) };
  const folder = await openFolder(options.data, {
    serving: true,
    progress: ({ table, done, rows }) =>
      options.log.note('info', 'bringing records to this version', { table, done, rows }),
    maxDocumentBytes: options.maxDocumentMegabytes * 1024 * 1024,
    requireLocation: options.requireLocation,
    agingPageLimit: options.agingPageLimit,
    ...(options.database !== undefined && {
      database: options.database,
      statementTimeoutMs: options.requestTimeoutSeconds * 1000,
    }),
    ...(options.files !== undefined && { files: options.files }),
    ...(options.streamRetentionDays !== undefined && { streamRetentionDays: options.streamRetentionDays }),
    ...(options.auditRetentionDays !== undefined && { auditRetentionDays: options.auditRetentionDays }),
    ...(options.clock && { clock: options.clock }),
  });
  let relay: Relay | undefined;
  try {
    for (const file of options.imports) {
      const { imported } = await importFile(folder.service, createReadStream(file));
      options.log.note('info', 'imported', imported);
    }
    const announceDemo = await options.demo?.(folder);
    relay = target && (await startRelay(folder.service, target, options.log));
    const app = await buildApp(folder.service, {
      log: options.log,
      timeouts: { requestMs: options.requestTimeoutSeconds * 1000 },
      rateLimit: options.rateLimit,
      behindProxy: options.behindProxy,
      ...(tls && { tls }),
      ...(relay && { readings: relayReadings(relay) }),
    });
    // An import is over by now: its heap is larger than any that a server needs.
    if (options.imports.length > 0 || announceDemo !== undefined) collectGarbage();
    collectSeldom();
    const url = await app.listen({ host: options.host, port: options.port });
    const demo = await announceDemo?.(url);
    return {
      url,
      path: folder.path,
      ...(demo && { demo }),
      async close() {
        const timer = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
        await app.close();
        clearTimeout(timer);
        await relay?.stop();
        await folder.close();
      },
    };
  } catch (error) {
    await relay?.stop();
    await folder.close();
    throw error;
  }
}

export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

/** Patient data does not go over a network in the clear (contract §6). */
function checkBinding(options: ServeOptions): void {
  if (isLoopback(options.host) || options.tls !== undefined || options.behindProxy) return;
  throw refusal(
    'field.conflict',
    '--host',
    `Listening on ${options.host} needs TLS (--tls-cert and --tls-key), or --behind-proxy when a proxy in front does TLS.`,
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

/** Relays the stream, and says in the log when the broker comes and goes. */
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
    failed: (broker, reason) => log.note('warn', 'the broker is away', { broker, reason }),
  });
}

import { hash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { refusal } from '../../catalog/failures.ts';
import { syncFile } from '../../filesystem/durable.ts';
import { closeFile } from '../../filesystem/private.ts';
import { isLoopback } from '../../postgres/loopback.ts';
import { withTimeLimit } from '../timelimit.ts';

/** Where checkpoints are shipped to: lines without their end. Rejects when they may not have arrived, or `signal` ends it. */
export interface ShippingTarget {
  /** Names it among the settings of the store. */
  readonly name: string;
  send(lines: readonly ShippedLine[], signal: AbortSignal): Promise<void>;
}

/** A checkpoint as it leaves the server, and when it was made. */
export interface ShippedLine {
  readonly at: string;
  readonly text: string;
}

/** Settings name a file with its machine: that of another one has the same path and other lines. */
export const FILE_TARGET = 'file:';

const SYSLOG_PORT = 514;

/**
 * The target that `--audit-checkpoints` names: a file, `https://…` (`http://` on this machine only), `syslog` (UDP to this
 * machine) or `syslog://HOST:PORT`. Throws a Refusal for anything else.
 */
export function shippingTarget(text: string): ShippingTarget {
  if (text === 'syslog') return syslogTarget('127.0.0.1', SYSLOG_PORT);
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return fileTarget(resolve(text));
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url !== undefined && isLoopback(url.hostname);
  if (url?.username === '' && (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)))
    return webTarget(url);
  if (url?.protocol === 'syslog:' && url.hostname !== '') {
    return syslogTarget(url.hostname.replace(/^\[(.*)\]$/, '$1'), Number(url.port || SYSLOG_PORT));
  }
  // The address itself is not repeated: it may hold a password.
  throw refusal(
    'field.conflict',
    '--audit-checkpoints',
    '--audit-checkpoints takes a file, https://HOST/PATH without a password (http:// on this machine only), syslog, or syslog://HOST:PORT.',
  );
}

/** Appends to a file, which is on the disk then. A line that a crash cut short stays, and is written again whole. */
function fileTarget(path: string): ShippingTarget {
  return {
    name: `${FILE_TARGET}${hostname()}:${path}`,
    async send(lines) {
      const file = await open(path, 'a+', 0o600);
      try {
        await closeFile(path, file);
        const { size } = await file.stat();
        const end =
          size === 0 ? '\n' : (await file.read({ length: 1, position: size - 1 })).buffer.toString('latin1', 0, 1);
        await file.appendFile(`${end === '\n' ? '' : '\n'}${lines.map(({ text }) => `${text}\n`).join('')}`);
        await syncFile(file);
      } finally {
        await file.close();
      }
    },
  };
}

/** Milliseconds that a receiver has to answer one checkpoint. */
export const ANSWER_MS = 10_000;

/** A POST for each checkpoint: it has arrived with a status of 2xx. */
function webTarget(url: URL): ShippingTarget {
  return {
    // The address itself may hold a secret.
    name: `${url.origin} ${hash('sha256', url.href, 'hex').slice(0, 16)}`,
    async send(lines, signal) {
      for (const { text } of lines) {
        const response = await withTimeLimit(ANSWER_MS, signal, async (limited) => {
          const answer = await fetch(url, {
            method: 'POST',
            body: `${text}\n`,
            headers: { 'content-type': 'application/json' },
            redirect: 'error',
            signal: limited,
          });
          await answer.body?.cancel();
          return answer;
        });
        if (!response.ok) throw new Error(`The receiver of checkpoints answered ${response.status}.`);
      }
    },
  };
}

/** Facility 13 (log audit), severity 5 (notice). */
const PRIORITY = 13 * 8 + 5;

/** Time in which a machine without a receiver says so. */
const REFUSAL_MS = 50;

/** RFC 5424 over UDP, a datagram for each checkpoint. Nobody confirms them; that nobody listens is noticed nearby. */
function syslogTarget(host: string, port: number): ShippingTarget {
  return {
    name: `syslog://${host}:${port}`,
    async send(lines) {
      const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
      try {
        const failed = new Promise<never>((_, reject) => void socket.once('error', reject));
        failed.catch(() => undefined);
        await Promise.race([failed, new Promise<void>((done) => void socket.connect(port, host, done))]);
        for (const { at, text } of lines) {
          socket.send(`<${PRIORITY}>1 ${at} ${hostname()} molar ${process.pid} audit-checkpoint - ${text}`);
        }
        // The turn after: on a busy machine the time may be over before what has arrived is looked at.
        await Promise.race([failed, sleep(REFUSAL_MS).then(() => new Promise((next) => void setImmediate(next)))]);
      } finally {
        socket.close();
      }
    },
  };
}

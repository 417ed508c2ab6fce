import { createPrivateKey, X509Certificate } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions, Server } from 'node:tls';
import { isOpenToOthers } from '../../filesystem/private.ts';
import { decodePem } from '../../text/decode.ts';
import type { ServerLog } from '../log.ts';
import { clientTls, readAuthorities } from '../signin/authorities.ts';
import { StoreUnusable } from '../store/store.ts';

/** Paths of PEM files. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Authorities of the certificates of clients, which are asked for one then. */
  readonly clientCa?: string;
}

/** How a server speaks TLS. */
export type TlsOptions = SecureContextOptions & Partial<ReturnType<typeof clientTls>>;

/**
 * TLS 1.3, and of TLS 1.2 what has forward secrecy and authenticated encryption: a key that is stolen later does not
 * open what was recorded before (contract §8).
 */
const SPOKEN: TlsOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
    ...['ECDSA', 'RSA'].flatMap((signed) =>
      ['AES256-GCM-SHA384', 'CHACHA20-POLY1305', 'AES128-GCM-SHA256'].map((cipher) => `ECDHE-${signed}-${cipher}`),
    ),
  ].join(':'),
};

/**
 * Reads certificate, key and authorities. Throws a Refusal (exit 2) for authorities that cannot be used, and
 * `StoreUnusable` (exit 9) for a certificate or key that cannot, and for a key that everybody can read.
 */
export async function readTls({ cert, key, clientCa }: TlsFiles): Promise<TlsOptions> {
  const options = {
    ...SPOKEN,
    cert: (await readPem('--tls-cert', cert)).text,
    key: await readKey(key),
    ...(clientCa !== undefined && clientTls(await readAuthorities(clientCa))),
  };
  try {
    // A context compares a certificate with a key of the same algorithm alone; others it keeps for another certificate.
    if (!new X509Certificate(options.cert).checkPrivateKey(createPrivateKey(options.key))) {
      throw new Error('the key is not that of the certificate');
    }
    createSecureContext(options);
  } catch (cause) {
    throw new StoreUnusable(
      `The certificate ${cert} and the key ${key} cannot be used: ${reasonOf(cause)}.`,
      'Give a certificate and its own key, both as PEM without a passphrase.',
      cause,
    );
  }
  return options;
}

/**
 * Reads certificate, key and authorities again when the process receives SIGHUP, until the function that is returned is
 * called. What cannot be used is logged, and the earlier files stay in use. Connections that are open stay;
 * `onAuthorities` is called when there are other authorities than `ca`, those of before.
 */
export function reloadOnHangup(
  server: object,
  files: TlsFiles,
  { ca }: Pick<TlsOptions, 'ca'>,
  log: Pick<ServerLog, 'note'>,
  onAuthorities: () => void,
): () => void {
  let reading = Promise.resolve();
  let authorities = String(ca);
  const reload = () => {
    // One after another, so that the files that were read last are those in use.
    reading = reading.then(async () => {
      try {
        const options = await readTls(files);
        if (server instanceof Server) server.setSecureContext(options);
        if (String(options.ca) !== authorities) onAuthorities();
        authorities = String(options.ca);
        log.note('info', 'certificate and key were read again');
      } catch (error) {
        log.note('error', 'certificate and key were not read again', { reason: reasonOf(error) });
      }
    });
  };
  return onHangup(reload);
}

/** Calls `listener` when the process receives SIGHUP, and nobody else, until the function that is returned is called. */
export function onHangup(listener: () => void): () => void {
  // The hang-up is no end here, as it is for other commands: a server has no terminal to lose.
  const others = process.listeners('SIGHUP');
  process.removeAllListeners('SIGHUP');
  process.on('SIGHUP', listener);
  return () => {
    process.off('SIGHUP', listener);
    for (const other of others) process.on('SIGHUP', other);
  };
}

async function readKey(path: string): Promise<string> {
  const { text, mode } = await readPem('--tls-key', path);
  if (!isOpenToOthers({ mode }, 0o007)) return text;
  throw new StoreUnusable(
    `Everybody on this machine can use the key ${path} (mode ${(mode & 0o777).toString(8).padStart(4, '0')}).`,
    `Take the rights of others away: chmod o= ${path}. If others may have read it, make a new key.`,
  );
}

async function readPem(flag: string, path: string): Promise<{ readonly text: string; readonly mode: number }> {
  try {
    const file = await open(path, 'r');
    try {
      const { mode } = await file.stat();
      return { text: decodePem(await file.readFile()), mode };
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new StoreUnusable(
      `${flag} cannot be read: ${reasonOf(cause)}.`,
      'Check the path and its permissions.',
      cause,
    );
  }
}

function reasonOf(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
}

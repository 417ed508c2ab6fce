import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { decodePem } from '../text/decode.ts';
import { isLoopback } from './loopback.ts';
import { PostgresUnusable } from './unusable.ts';

/** How connections to a database are encrypted; false: not at all. */
export type DatabaseTls = false | ConnectionOptions;

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** Parameters of the address, and the variables that stand for them where they are not given. */
const FILES = { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' } as const;

/** Names of the parameters that are read here, and that the driver would take in its own way. */
export const TLS_PARAMETERS = ['sslmode', ...Object.values(FILES)];

/**
 * Reads `sslmode`, `sslrootcert`, `sslcert` and `sslkey` with the meaning that they have for psql, or PGSSLMODE and so on.
 * Where nothing is said, nor anything that would go on without TLS (`allow`, `prefer`), a database on another machine needs
 * a certificate that is valid for its host, and one on this machine no TLS. Throws `PostgresUnusable`.
 */
export function readDatabaseTls(
  parameters: URLSearchParams,
  host: string,
  env: Readonly<Record<string, string | undefined>>,
): DatabaseTls {
  const given = (name: string) => parameters.get(name) ?? (env[`PG${name.toUpperCase()}`] || undefined);
  const mode = given('sslmode');
  if (mode !== undefined && !MODES.includes(mode))
    throw new PostgresUnusable(`sslmode takes ${MODES.join(', ')}.`, NEXT);
  // Of psql, too, a socket is no network.
  if (mode === 'disable' || host.startsWith('/')) return false;
  const open = mode === undefined || mode === 'allow' || mode === 'prefer';
  if (open && isLoopback(host)) return false;
  const files = Object.entries(FILES).map(([option, name]) => [option, readPem(name, given(name))] as const);
  const pem: ConnectionOptions = Object.fromEntries(files.filter(([, text]) => text !== undefined));
  if (open || mode === 'verify-full') return pem;
  if (pem.ca !== undefined) return { ...pem, checkServerIdentity: () => undefined };
  if (mode === 'require') return { ...pem, rejectUnauthorized: false };
  throw new PostgresUnusable(
    'sslmode=verify-ca needs the authority: anybody gets a certificate from a public one.',
    NEXT,
  );
}

const NEXT = 'Use ?sslmode=verify-full, with sslrootcert=FILE where the authority is your own.';

/** `system` stands for the authorities that are known anyway. */
function readPem(name: string, path: string | undefined): string | undefined {
  if (path === undefined || (name === FILES.ca && path === 'system')) return undefined;
  try {
    return decodePem(readFileSync(path));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PostgresUnusable(`${name} of the database cannot be read: ${reason}.`, 'Check the path.', cause);
  }
}

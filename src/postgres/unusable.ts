/** A database whose address cannot be read, or that cannot be connected to; `next` says what to do. */
export class PostgresUnusable extends Error {
  constructor(
    message: string,
    readonly next: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'PostgresUnusable';
  }
}

/** What is wrong with a database, after its name, and what whoever connects can do. */
export type Reason = readonly [what: string, next: string];

const BY_STATE: Readonly<Record<string, Reason>> = {
  '3D000': ['does not exist', 'Make it with createdb, or name another in the address.'],
  '28P01': ['refused the password', 'Check the user and the password in the address.'],
  '28000': [
    'refused the user',
    'Check the user in the address, pg_hba.conf of the server, and whether it wants TLS (?sslmode=verify-full).',
  ],
};

/** By codes of Node, and words of the driver where it has no code. */
const BY_FAULT: readonly (readonly [RegExp, Reason])[] = [
  [/^SASL: .*client password must be/, ['wants a password', 'Put it into PGPASSWORD or ~/.pgpass.']],
  [
    /does not support SSL/,
    ['does not speak TLS', 'Turn it on there (ssl = on), or add ?sslmode=disable where nobody else is on the network.'],
  ],
  [
    /^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/,
    [
      'has a certificate that no known authority has signed',
      'Name the file of the authority, or of a self-signed certificate itself: ?sslrootcert=FILE, or PGSSLROOTCERT.',
    ],
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID/,
    ['has a certificate for another host', 'Use a host name that it names, or give the server one for this name.'],
  ],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)/, ['has a certificate that is not valid now', 'Renew it, or check the clock.']],
];

/** Why a connection was refused, by what the driver throws; undefined where that is not known. */
export function refusalOf(error: unknown): Reason | undefined {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  return BY_STATE[sqlState(error) ?? ''] ?? BY_FAULT.find(([pattern]) => pattern.test(code ?? message ?? ''))?.[1];
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** The SQLSTATE of a response of the database; undefined for anything else, such as a fault of the connection. */
export function sqlState(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: string; severity?: string };
  return severity !== undefined && code !== undefined && SQLSTATE.test(code) ? code : undefined;
}

const SYSTEM =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|ENOENT|EACCES|ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_|UNABLE_)/;
/** Words of the driver for connections that broke, without a code. */
const BROKEN =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client (has|was)|Cannot use a pool|The server does not support SSL|There was an error establishing an SSL)/;

/** Whether the driver throws because there is no connection, or none any more. */
export function isConnectionFault(error: Error): boolean {
  return (
    SYSTEM.test((error as { code?: string }).code ?? '') ||
    BROKEN.test(error.message) ||
    error instanceof AggregateError
  );
}

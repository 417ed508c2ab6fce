import { StoreUnusable } from '../store.ts';
import { sqlState, storeFault } from './faults.ts';

/** What is wrong with a database, after its name, and what whoever starts the server can do. */
type Reason = readonly [what: string, next: string];

const BY_STATE: Readonly<Record<string, Reason>> = {
  '3D000': ['does not exist', 'Make it with createdb, or name another in the address.'],
  '28P01': ['refused the password', 'Check the user and the password in the address.'],
  '28000': [
    'refused the user',
    'Check the user in the address, pg_hba.conf of the server, and whether it wants TLS (?sslmode=verify-full).',
  ],
  '42501': ['does not let this user make tables', 'Run molar server migrate-schema as the owner of the schema.'],
};

/** By codes of Node, and words of the driver where it has no code. */
const BY_FAULT: readonly (readonly [RegExp, Reason])[] = [
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

const OTHERWISE: Reason = ['cannot be used', 'Check the address, the user and the password, and that it runs.'];

/** A fault of opening a database in words; nothing of it repeats the password. */
export function unusable(error: unknown, name: string): unknown {
  if (error instanceof StoreUnusable) return error;
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  const known =
    BY_STATE[sqlState(error) ?? ''] ?? BY_FAULT.find(([pattern]) => pattern.test(code ?? message ?? ''))?.[1];
  const [what, next] = known ?? OTHERWISE;
  const fault = storeFault(error);
  const why = known !== undefined || !(fault instanceof Error) ? '' : ` ${fault.message}`;
  return new StoreUnusable(`The database ${name} ${what}.${why}`, next, fault);
}

// Folders and files below test/.

/**
 * Another driver of SQLite than on Node 20, with the release of SQLite that each version comes with; threads and processes
 * that read with it. What the driver is built on is least complete in the first version that has it.
 */
export const DRIVER = [
  'sqlite/',
  'server/store/sqlite/',
  'core/query/sqlitequery',
  'core/mirror/store',
  'core/mirror/values',
];

/**
 * The tests whose result a version of Node can change: they use what Node itself, its V8 or its libraries do, or that
 * driver. What computes with the language alone is left to `npm run test:nodes -- all`.
 */
export const DIFFERS = [
  ...DRIVER,
  // Sockets, TLS, HTTP and its timeouts, compression.
  ...['core/transport/', 'core/connection/', 'core/doctor/', 'core/stream/httpsource', 'server/http/compression'],
  ...['server/http/pipelining', 'server/http/timeouts', 'server/http/slowreaders', 'server/http/addressing'],
  // Files: opening, renaming, locking, modes; streams from and to them.
  ...['filesystem/', 'core/lockfile', 'core/output/atomicfile', 'core/output/ownfile', 'core/output/xlsx'],
  ...['core/exports/receipt', 'core/exports/bookmark', 'core/documents/downloads/download', 'server/datafolder'],
  // Keys, signatures and digests.
  ...['core/profiles/', 'core/releases/', 'server/signin/'],
  // Dates and zones, which come with the ICU of each version; encodings.
  ...['core/dates/', 'core/recurrence/', 'core/output/localclock', 'server/zones', 'server/wallclock', 'text/'],
  // Processes, signals, standard streams, flags of V8, the cache of compiled code, stacks of errors.
  ...['cli/process/', 'cli/startup/node20', 'cli/serving/', 'cli/terminal/', 'cli/errors/', 'server/workers/'],
  ...['house/run', 'house/closingline'],
];

// What is asked of each figure, by measurement: the largest (`atMost`) or smallest (`atLeast`) ratio, or value in the unit of
// the figure, that is accepted. In a name a star stands for any text; the first name that fits counts. What is missed on the
// machine of the last run is in RESULTS.md.

export const BUDGETS = {
  startup: {
    'molar --version': { atMost: 1.6 },
    'molar patients list --help': { atMost: 2 },
    'molar patients list --limit 1': { atMost: 2.5 },
    'molar serve, until ready': { atMost: 12 },
    'molar serve, idle': { atMost: 120 },
  },
  export: {
    'patients list --csv': { atMost: 1.3 },
    'patients list --csv, memory': { atMost: 120 },
    'patients list --csv, times faster': { atLeast: 5 },
    '--parallel 8, a line of * ms, times faster': { atLeast: 5 },
    'the same of * patients, memory': { atMost: 120 },
  },
  compressed: {
    'patients list --csv': { atMost: 1.15 },
    '--parallel 4': { atMost: 1.15 },
    '--parallel 8': { atMost: 1.15 },
    'patients list --csv, times faster': { atLeast: 4 },
  },
  server: {
    'list of 100': { atLeast: 0.8 },
    'list of 500': { atLeast: 0.8 },
    'get one': { atLeast: 0.5 },
    '*, of * records': { atLeast: 5 },
  },
  audit: {
    'get one': { atLeast: 0.6 },
    'list of 100': { atLeast: 0.6 },
    'list of 500': { atLeast: 0.6 },
  },
  workers: {
    'list of 100, SQLite': { atLeast: 1.7 },
    'list of 100, PostgreSQL': { atLeast: 1.7 },
    'get one, SQLite': { atLeast: 1.7 },
    'get one, PostgreSQL': { atLeast: 1.7 },
    'post, SQLite': { atLeast: 1 },
    'post, PostgreSQL': { atLeast: 1 },
  },
  posts: { 'POST of a patient': { atLeast: 0.5 } },
  organizations: {
    '* organizations, two servers': { atLeast: 1.7 },
    'one organization': { atLeast: 0.5 },
  },
  mixed: { 'p99 of a get beside other work': { atMost: 5 } },
  growth: {
    'count of *, after a write: *': { atMost: 2 },
    'aging, * page, after a guarantor has changed: *': { atMost: 1.3 },
    'aging, * transactions, the ledger changing between pages': { atMost: 1.5 },
    // Milliseconds that a statement may hold the thread that answers.
    'longest wait of others during: *': { atMost: 25 },
    '*: *': { atMost: 1.2 },
  },
  mirror: {
    'mirror sync': { atMost: 2 },
    'mirror sync, rows': { atLeast: 60_000 },
    'mirror sync, memory': { atMost: 200 },
    'a night without changes': { atMost: 3 },
    'mirror sync to PostgreSQL': { atLeast: 0.5 },
  },
  aging: { 'agingbalances report --location ID': { atMost: 2 } },
  upload: { '* files of * KiB': { atLeast: 5 } },
  importing: {
    'import of * records': { atLeast: 0.5 },
    'memory of the import, at most': { atMost: 400 },
  },
  // The bound of an import on each store, whatever its size; import.js asks for it by this name.
  stores: { 'memory of the import, at most': { atMost: 400 } },
  besideimport: {
    '*: p99 of POSTs of another organization': { atMost: 2 },
    '*: p99 of POSTs of the same organization': { atMost: 5 },
  },
  relay: { '* messages from the outbox': { atLeast: 0.6 } },
  fanout: { '*, * messages to each': { atLeast: 0.5 } },
  tenants: {
    'p99 beside *': { atMost: 2 },
    // Megabytes (contract §8).
    'memory of the server, *': { atMost: 400 },
  },
};

/**
 * The areas of `npm run test:mutants -- AREA`: the files that faults are put into, and the tests that have to find them,
 * as patterns from the root of the repository.
 */
export const AREAS = {
  filter: { files: ['src/catalog/filter/*.ts'], tests: ['test/catalog/filter/*.test.ts'] },
  recurrence: { files: ['src/catalog/recurrence/*.ts'], tests: ['test/catalog/recurrence/*.test.ts'] },
  paging: {
    files: ['src/core/pages/*.ts'],
    tests: ['test/core/pages/*.test.ts'],
  },
  exports: {
    files: ['src/core/exports/!(bookmark).ts'],
    tests: ['test/core/exports/*.test.ts'],
  },
  bookmarks: {
    files: ['src/core/exports/bookmark.ts'],
    tests: ['test/core/exports/bookmark*.test.ts'],
  },
  uploads: {
    files: ['src/core/documents/uploads/*.ts'],
    tests: ['test/core/documents/uploads/*.test.ts'],
  },
  retries: {
    files: ['src/core/transport/{exchange,pacer,retry,uncertainwrite,attempt,send}.ts'],
    tests: ['test/core/transport/*.test.ts'],
  },
  relay: {
    files: ['src/server/stream/relay/{relay,window,cursors,session}.ts'],
    tests: ['test/server/stream/relay/{cursors,endings,pauses,relay,session,window}.test.ts'],
  },
  stream: {
    files: ['src/server/stream/*.ts', 'src/core/stream/*.ts', 'src/cli/streaming/*.ts'],
    // The crowd measures memory, in a process of its own.
    tests: ['test/server/stream/!(crowd).test.ts', 'test/core/stream/*.test.ts', 'test/cli/streaming/*.test.ts'],
  },
  limits: {
    files: ['src/server/http/ratelimit.ts', 'src/server/budgets/*.ts'],
    tests: ['test/contract/ratelimit.test.ts', 'test/server/budgets/*.test.ts'],
  },
  audit: { files: ['src/server/audit/*.ts'], tests: ['test/server/audit/*.test.ts'] },
  aging: {
    files: ['src/server/reports/aging/*.ts', 'src/server/reports/!(places|filing).ts'],
    tests: ['test/server/reports/aging/!(generated|demo|within).test.ts', 'test/contract/locations.test.ts'],
  },
  openings: {
    files: ['src/server/reports/{openings,production}/*.ts'],
    tests: ['test/server/reports/{openings,production}/!(generated).test.ts'],
  },
  access: {
    files: ['src/server/http/identity.ts', 'src/server/tokens/*.ts'],
    tests: [
      'test/server/http/{attempts,identity,refusallog,tokens}.test.ts',
      'test/server/tokens/*.test.ts',
      'test/server/signin/{certificates,persontokens}.test.ts',
      'test/contract/{access,clients,refusals,tokens}.test.ts',
    ],
  },
  signin: { files: ['src/server/signin/*.ts'], tests: ['test/server/signin/*.test.ts'] },
  import: {
    files: ['src/server/import/**/*.ts'],
    tests: [
      'test/server/import/*.test.ts',
      'test/server/import/staged/!(kills|likeatonce).test.ts',
      'test/server/sharing/imports.test.ts',
    ],
  },
  mirror: {
    files: [
      'src/core/mirror/{jsonmembers,names,place,rebuilding,records,recordtexts,values,zones}.ts',
      'src/core/mirror/deidentify/{deidentifier,keeping,permutation}.ts',
    ],
    tests: ['test/core/mirror/{place,pseudonyms,tables,texts,treatments,values}.test.ts'],
  },
  query: { files: ['src/core/query/*.ts'], tests: ['test/core/query/*.test.ts', 'test/cli/query/*.test.ts'] },
  maintenance: { files: ['src/server/maintenance/**/*.ts'], tests: ['test/server/maintenance/*.test.ts'] },
};

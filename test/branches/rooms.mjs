/** The rooms of `npm run test:branches`: their code, and the tests that have to take each of its branches, by path. */
export const ROOMS = {
  catalog: { code: ['src/catalog/**/*.ts'], tests: ['test/catalog/'] },
  money: { code: ['src/core/reports/{,aging}money.ts'], tests: ['test/core/reports/money', 'test/core/reports/aging'] },
  paging: { code: ['src/core/pages/*.ts'], tests: ['test/core/pages/'] },
  recurrence: { code: ['src/core/recurrence/*.ts'], tests: ['test/core/recurrence/'] },
  journal: {
    code: ['src/core/exports/journal.ts', 'src/core/documents/{uploads/upload,downloads/download}journal.ts'],
    tests: ['exports/', 'documents/uploads/upload', 'documents/downloads/download'].map(
      (begin) => `test/core/${begin}journal`,
    ),
  },
  mirror: { code: ['src/core/mirror/**/*.ts'], tests: ['test/core/mirror/'] },
  audit: { code: ['src/server/audit/*.ts'], tests: ['test/server/audit/'] },
};

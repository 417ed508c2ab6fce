import type { Migration } from './dialects.ts';

/**
 * Tables of what imports have staged, by the name of the import. SQLite has them in a file beside the database as well, and
 * uses those, since requests go on writing to the database.
 */
export const STAGING_TABLES: Readonly<Record<'import_lines' | 'import_links' | 'import_deferred', string>> = {
  // The last line of each record, in the order in which they are published. record is what the line gives, NULL where it
  // deletes. link: who referred a patient, or what a transaction corrects. twin: what no other record may have as well.
  import_lines: `(import TEXT NOT NULL, org BIGINT NOT NULL, type TEXT NOT NULL, id BIGINT NOT NULL, step BIGINT NOT NULL,
    seq BIGINT NOT NULL, line BIGINT NOT NULL, record TEXT, link BIGINT, twin TEXT, PRIMARY KEY (import, org, type, id))`,
  // Links that led nowhere when their line was read.
  import_links: `(import TEXT, target TEXT, org BIGINT, id BIGINT, line BIGINT, field TEXT,
    PRIMARY KEY (import, target, org, id, line, field))`,
  // Lines that can only be read after all others.
  import_deferred: '(import TEXT, seq BIGINT, line BIGINT, record TEXT, PRIMARY KEY (import, seq))',
};

/** Their indexes. */
export const STAGING_INDEXES: readonly string[] = [
  'CREATE INDEX import_lines_in_order ON import_lines (import, org, step, seq)',
  'CREATE INDEX import_lines_by_link ON import_lines (import, org, type, link) WHERE link IS NOT NULL',
  'CREATE INDEX import_lines_by_twin ON import_lines (import, org, type, twin) WHERE twin IS NOT NULL',
];

/** Imports that are checked in full before anything of them is published. */
export const IMPORTS: Migration = {
  name: 'imports',
  isAdditive: true,
  statements: [
    // What is being published: its plan, how far it is, and what is to be audited, as JSON (import/staged/plan.ts).
    'CREATE TABLE imports (name TEXT PRIMARY KEY, plan TEXT NOT NULL, progress TEXT NOT NULL, position TEXT NOT NULL)',
    ...Object.entries(STAGING_TABLES).map(([name, columns]) => `CREATE TABLE ${name} ${columns}`),
    ...STAGING_INDEXES,
  ],
};
